"""Settings become the parts a run works with; slow parts are loaded when first used."""

import logging
import shutil
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path

from flows.run.create_index import create_index
from flows.run.leases import INDEX, TTL, hold_lease
from flows.run.versions import is_same, names_of_change
from indexes.chunk_tables import ChunkTables
from indexes.embed.export import damaged_files
from indexes.embed.manifest import GRAPH_FILE, MANIFEST_FILE, TOKENIZER_FILE, WEIGHTS_FILE
from indexes.embed.manifest import load_encoder_manifest as load_encoder
from indexes.embed.weights import ModelSpec, load_model_spec
from indexes.layout import FILES, IndexLayout, IndexManifest, ModelManifest, load_manifest
from indexes.own_ledger import keep_ledger_place, ledger_url_of, open_own_ledger, refuse_another_ledger
from indexes.places import bucket_of, cache_folder, place_of
from indexes.ports import AuthorityStore, GraphStore, RawStore
from indexes.publish.current import read_current
from indexes.publish.generation import load_generation
from indexes.stores.ledger.leases import Lease
from indexes.stores.ledger.ledger import Ledger, open_ledger
from indexes.wiring import (
    open_authority_store,
    open_graph_store,
    open_own_store,
    open_raw_store,
)
from runtime.clock import SteadyClock, SystemClock
from runtime.progress import StageProgress
from runtime.settings import crash_point
from schemas.errors import ConfigError, SchemaMismatch, SitegraphError
from schemas.ids import sha256_hex
from schemas.settings import CacheSettings, Settings

_ENCODER = (GRAPH_FILE, WEIGHTS_FILE, TOKENIZER_FILE, MANIFEST_FILE)
"""The manifest last: a folder with one has all the others."""


def local_folder(layout: IndexLayout, settings: CacheSettings) -> Path:
    """Return the folder of an index itself, or where this machine keeps what it needs of one in a bucket.

    All in the latter can be made again.
    """
    if bucket_of(layout.root) is None:
        return layout.root
    return cache_folder(settings, "indexes") / sha256_hex(str(layout.root))[:32]


def fetch_encoder(there: Path, folder: Path) -> None:
    """Bring the exported encoder of an index in a bucket into a local *folder*, if there is one."""
    manifest = there / MANIFEST_FILE
    if not manifest.exists():
        return
    here = folder / MANIFEST_FILE
    if here.is_file() and here.read_bytes() == manifest.read_bytes():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in _ENCODER:
        if bucket := bucket_of(there / name):
            bucket.download(folder / name)


def upload_encoder(folder: Path, there: Path, *, check: bool) -> None:
    """Put the exported encoder of a local *folder* where readers of an index in a bucket look for it.

    With *check* what is there is read, and put again where it is damaged.
    """
    if _is_put(folder, there) and not (check and damaged_files(there)):
        return
    for name in _ENCODER:
        if bucket := bucket_of(there / name):
            bucket.upload(folder / name)


def _is_put(folder: Path, there: Path) -> bool:
    try:
        sizes = [(there / name).stat().st_size for name in _ENCODER]
        manifest = (there / MANIFEST_FILE).read_bytes()
    except FileNotFoundError:
        return False
    mine = [(folder / name).stat().st_size for name in _ENCODER]
    return sizes == mine and manifest == (folder / MANIFEST_FILE).read_bytes()


_log = logging.getLogger(__name__)


TellLost = Callable[[IndexLayout], SitegraphError]


@dataclass(kw_only=True)
class Index:
    """An index opened for writing."""

    layout: IndexLayout
    manifest: IndexManifest
    settings: Settings
    clock: SystemClock = field(default_factory=SystemClock)
    tell_lost: TellLost | None = None
    """What to say where the ledger is lost; None: its tables are made again, as by a run."""
    opened_ledger: Ledger | None = None
    opened_chunks: ChunkTables | None = None
    opened_graph: GraphStore | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)
    """Stages of several threads open a store once."""

    @property
    def ledger(self) -> Ledger:
        """Crawl state, generations, leases.

        Raises: ConfigError: it is the ledger of another index, or the index keeps its own elsewhere;
        what `tell_lost` says: it is not there.
        """
        with self._lock:
            if self.opened_ledger is None:
                self.opened_ledger = self._open_ledger()
            return self.opened_ledger

    def _open_ledger(self) -> Ledger:
        if self.tell_lost is not None:
            return open_own_ledger(self.layout, self.settings.ledger_url, now=self.now, lost=self.tell_lost)
        url = ledger_url_of(self.layout, self.settings.ledger_url)
        refuse_another_ledger(self.layout, url, index_id=self.manifest.index_id, may_rebuild=True)
        ledger = open_ledger(url, now=self.now)
        ledger.owner.check(self.manifest.index_id)
        return ledger

    def claim_ledger(self) -> None:
        """Make the ledger that of this index, and write down where it is.

        Raises: ConfigError: it is another index's.
        """
        self.ledger.owner.claim(self.manifest.index_id)
        keep_ledger_place(self.layout, ledger_url_of(self.layout, self.settings.ledger_url))

    @cached_property
    def raw(self) -> RawStore:
        """Fetched bytes."""
        return open_raw_store(self.layout.raw, self.manifest, patience=self.settings.bucket_seconds)

    @cached_property
    def fragments(self) -> RawStore:
        """Parsed documents."""
        return open_raw_store(self.layout.fragments, self.manifest, patience=self.settings.bucket_seconds)

    @property
    def has_grown(self) -> bool:
        """Whether anything fetched or parsed was kept since the index was opened."""
        return any(store.has_grown for store in (self.raw, self.fragments))

    @cached_property
    def outbox(self) -> RawStore:
        """Payloads of frozen plans; with the tables, wherever raw bytes are: they live as long as a run."""
        return open_own_store(self.layout.outbox)

    @cached_property
    def similar(self) -> RawStore:
        """What each kept generation knows of the nearest passages; made again where it is lost."""
        return open_own_store(self.layout.similar)

    @cached_property
    def links(self) -> RawStore:
        """Which documents of each kept generation link to each other; made again where it is lost."""
        return open_own_store(self.layout.links)

    @cached_property
    def local(self) -> Path:
        """A folder of this machine for what a run must have in files: the index folder, if it is one."""
        return local_folder(self.layout, self.settings)

    @property
    def vectors(self) -> Path:
        """The cache of vectors by text; of an index in a bucket, this machine's own."""
        return self.local / self.layout.vectors.name

    @property
    def codes(self) -> Path:
        """Short forms of vectors, made again where lost; of an index in a bucket, this machine's own."""
        return self.local / self.layout.codes.name

    @property
    def chunks(self) -> ChunkTables:
        """Chunk rows, vectors, full text."""
        with self._lock:
            if self.opened_chunks is None:
                self.opened_chunks = ChunkTables(self.layout, self.manifest)
            return self.opened_chunks

    @property
    def graph(self) -> GraphStore:
        """Nodes and edges."""
        with self._lock:
            if self.opened_graph is None:
                self.opened_graph = open_graph_store(self.layout, self.manifest, self.settings)
            return self.opened_graph

    @cached_property
    def authority(self) -> AuthorityStore:
        """What links and clicks say of each document."""
        return open_authority_store(self.layout)

    @cached_property
    def crash_point(self) -> Callable[[str], None]:
        """Crashes where `SITEGRAPH_FAULT` says so."""
        return crash_point(self.settings.fault)

    def now(self) -> str:
        """The time as the ledger keeps it."""
        return self.clock.now().isoformat(timespec="seconds")

    def hold(
        self, name: str = INDEX, *, progress: StageProgress, stop: threading.Event, wait: bool = True
    ) -> AbstractContextManager[Lease]:
        """Hold a lease inside a block: by default that under which the index is changed, once nobody has it.

        Raises: Stopped: while waiting; StoreUnavailable: somebody else holds it and *wait* is false.
        """
        return hold_lease(self.ledger.leases, name, clock=self.clock, progress=progress, stop=stop, wait=wait)

    def model(self) -> ModelManifest:
        """The model of the vectors that readers see."""
        return self.chunks.space(self.current()).model

    def current(self) -> int:
        """The generation that readers see."""
        return read_current(self.layout.root)

    def close(self) -> None:
        """Let go of what was opened."""
        self.close_stores()
        if self.opened_ledger is not None:
            self.opened_ledger.close()

    def close_stores(self) -> None:
        """Let go of both stores; they are opened again on use."""
        chunks, self.opened_chunks = self.opened_chunks, None
        graph, self.opened_graph = self.opened_graph, None
        for store in (chunks, graph):
            if store is not None:
                store.close()


def open_index(
    settings: Settings, *, index_id: str | None = None, tell_lost: TellLost | None = None
) -> Index:
    """Open an index for writing; with *index_id*, make it where there is none.

    Raises: ConfigError: no index there, or one with other stores than the settings name.
    """
    layout = IndexLayout(place_of(settings))
    if index_id is not None and not layout.manifest.exists():
        create_index(layout, settings, index_id)
    manifest = load_manifest(layout)
    if settings.graph not in (None, manifest.graph):
        raise ConfigError(
            f"this index keeps its graph in {manifest.graph}, not in {settings.graph}; "
            "build another index with --index",
            subject=str(layout.root),
        )
    if settings.raw_url not in (None, manifest.raw):
        place = "its folder" if manifest.raw == FILES else manifest.raw
        raise ConfigError(
            f"this index keeps what it fetched and parsed in {place}; unset SITEGRAPH_RAW_URL, or build "
            "another index with --index",
            subject=str(layout.root),
        )
    index = Index(layout=layout, manifest=manifest, settings=settings, tell_lost=tell_lost)
    index.clock = SteadyClock(partial(latest_time, index))
    return index


def latest_time(index: Index, until: datetime) -> datetime | None:
    """The latest time, none after *until*, that an index knows of: its clock never shows an earlier one.

    Whatever is made after another thing is then later than it, though the machine's clock was set back.
    """
    try:
        times = index.ledger.runs.times(until=until, ttl=TTL)
        published = datetime.fromisoformat(load_generation(index.layout, index.current()).as_of)
    except SitegraphError:
        return None  # whoever needs what is lost will say so
    return max((*times, *([published] if published <= until else [])), default=None)


def model_of(index: Index, *, other: bool = False) -> ModelSpec:
    """Find the model that the settings name, by default the one of the vectors that readers see.

    Raises: SchemaMismatch: the settings name another one, or another dtype, and *other* is false.
    """
    held, settings = index.model(), index.settings
    spec = load_model_spec(settings.model or held.name, settings)
    spec = spec.in_dtype(settings.dtype or (held.dtype if not spec.graph else None))
    asked = settings.late_interaction
    spec = replace(spec, token_vectors=held.token_vectors if asked is None else asked)
    if not is_same(held, spec) and not other:
        before, after = names_of_change(held, spec)
        raise SchemaMismatch(
            f"index was built with model {before}, this would use {after}; set SITEGRAPH_MODEL, "
            "SITEGRAPH_DTYPE and SITEGRAPH_LATE_INTERACTION to the index's, see what a change would cost "
            "with: sitegraph plan SOURCE.yaml, or build a new index",
            subject=str(index.layout.root),
        )
    return spec


def unrelated_in(index: Index, model: ModelSpec) -> float:
    """Cosine of texts that have nothing to do with each other, as measured when the encoder was exported.

    Where the exported encoder is not there, it counts as 0, and the log says so.
    """
    folder = encoder_folder(index, model)
    if (folder / MANIFEST_FILE).is_file():
        return load_encoder(folder).unrelated
    _log.warning("no exported encoder in %s: cosines are judged as if unrelated texts had 0", folder)
    return 0.0


def encoder_folder(index: Index, model: ModelSpec) -> Path:
    """Where the query encoder of a model is exported to."""
    first = index.manifest.model
    if (model.sha256, model.token_vectors) == (first.sha256, first.token_vectors):
        return index.layout.encoder
    return index.layout.root / f"encoder-{model.sha256[:12]}{'-tokens' if model.token_vectors else ''}"


def local_encoder(index: Index, model: ModelSpec) -> Path:
    """Where this machine has the query encoder of a model: what is in a bucket is brought here."""
    return index.local / encoder_folder(index, model).name
