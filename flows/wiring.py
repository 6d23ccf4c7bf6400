"""Settings become the parts a run works with; slow parts are loaded when first used."""

import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from flows.child import ParserPool
from flows.clock import SystemClock
from flows.crash import crash_point
from flows.creating import create_index
from flows.models import encoder_cache, encoder_folder, model_of
from flows.progress import StageProgress
from flows.tesseract import engine
from indexes.chunk_tables import ChunkTables
from indexes.embed.background import BackgroundEncoder
from indexes.embed.cache import SqliteVectorCache
from indexes.embed.child import ChildEncoder
from indexes.embed.encoder import SentenceTransformerEncoder
from indexes.embed.export import export_onnx
from indexes.embed.frugal import LIGHT_CHARACTERS, FrugalEncoder
from indexes.embed.reader_encoder import OnnxEncoder
from indexes.embed.routes import Dtype
from indexes.embed.weights import ModelSpec, model_key
from indexes.layout import IndexLayout
from indexes.manifest import FILES, IndexManifest, ModelManifest, load_manifest
from indexes.own_ledger import ledger_url_of, open_own_ledger
from indexes.ports import AuthorityStore, GraphStore, RawStore
from indexes.publish.current import read_current
from indexes.stores.ledger.ledger import Ledger, open_ledger
from indexes.stores.raw import FileRawStore
from indexes.wiring import (
    open_authority_store,
    open_chunk_store,
    open_graph_store,
    open_raw_store,
)
from ingest.diff.rows import Observed
from ingest.plan.scope import seed_urls
from schemas.errors import ConfigError
from schemas.extraction import EntityExtractor
from schemas.fetch import FetchResult, SitemapEntry
from schemas.fragment import GraphFragment
from schemas.hashing import record_sha256
from schemas.records import to_record
from schemas.settings import Settings
from schemas.source import Source

if TYPE_CHECKING:
    from ingest.fetch.client import FetchSession


@dataclass(kw_only=True)
class Index:
    """An index opened for writing."""

    layout: IndexLayout
    manifest: IndexManifest
    settings: Settings
    clock: SystemClock = field(default_factory=SystemClock)
    only_described: bool = False
    """Whether to take the ledger as it is: a run makes the tables of a lost one anew."""

    @cached_property
    def ledger(self) -> Ledger:
        """Crawl state, generations, leases.

        Raises: ConfigError: it is the ledger of another index; StoreUnavailable: it is not there, and the
        index is only described.
        """
        if self.only_described:
            return open_own_ledger(self.layout, self.settings.ledger_url, now=self.now)
        ledger = open_ledger(ledger_url_of(self.layout, self.settings.ledger_url), now=self.now)
        ledger.owner.check(self.manifest.index_id)
        return ledger

    @cached_property
    def raw(self) -> RawStore:
        """Fetched bytes."""
        return open_raw_store(self.layout.raw, self.manifest)

    @cached_property
    def fragments(self) -> RawStore:
        """Parsed documents."""
        return open_raw_store(self.layout.fragments, self.manifest)

    @property
    def has_grown(self) -> bool:
        """Whether anything fetched or parsed was kept since the index was opened."""
        return any(store.has_grown for store in (self.raw, self.fragments))

    @cached_property
    def outbox(self) -> FileRawStore:
        """Payloads of frozen plans; in the folder, wherever the rest is, since they live as long as a run."""
        return FileRawStore(self.layout.outbox)

    @cached_property
    def similar(self) -> FileRawStore:
        """What each kept generation knows of the nearest passages; made anew where it is lost."""
        return FileRawStore(self.layout.similar)

    @cached_property
    def chunks(self) -> ChunkTables:
        """Chunk rows, vectors, full text."""
        return open_chunk_store(self.layout, self.manifest)

    @cached_property
    def graph(self) -> GraphStore:
        """Nodes and edges."""
        return open_graph_store(self.layout, self.manifest, self.settings.environment())

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

    def model(self) -> ModelManifest:
        """The model of the vectors that readers see."""
        return self.chunks.space(self.current()).model

    def current(self) -> int:
        """The generation that readers see."""
        return read_current(self.layout.root)

    def close(self) -> None:
        """Let go of what was opened."""
        self.close_stores()
        if "ledger" in self.__dict__:
            self.ledger.close()

    def close_stores(self) -> None:
        """Let go of both stores; they are opened anew on use."""
        for name in ("chunks", "graph"):
            if name in self.__dict__:
                self.__dict__.pop(name).close()


@dataclass(kw_only=True)
class Pipeline:
    """Everything one run of one source works with; `tools` are the files of tools that the source names.

    `answers` are those that seeds gave before the index was made.
    `embedded_ahead` are fragments whose texts were taken by `encoding` as soon as they were parsed.
    `may_change_model`: whether it may go on with another model than that of the vectors readers see.
    `repair`: whether to read everything that readers see first, as `verify` does. `observed` are the times of
    passages whose rows are written anew.
    """

    index: Index
    source: Source
    run_id: str
    progress: StageProgress
    tools: tuple[GraphFragment, ...] = ()
    stop: threading.Event = field(default_factory=threading.Event)
    may_change_model: bool = False
    repair: bool = False
    observed: Mapping[str, Observed] = field(default_factory=dict)
    answers: dict[str, FetchResult] = field(default_factory=dict)
    embedded_ahead: set[str] = field(default_factory=set)
    _listed: dict[str, tuple[SitemapEntry, ...]] = field(default_factory=dict)
    _opened: ExitStack = field(default_factory=ExitStack)

    @cached_property
    def model(self) -> ModelSpec:
        """The encoder's model, as found on this machine."""
        return model_of(self.index, other=self.may_change_model)

    @cached_property
    def pipeline_version(self) -> str:
        """What a fragment depends on besides the bytes; another value parses everything again."""
        return pipeline_version(self.model, self.source)

    @cached_property
    def encoder(self) -> FrugalEncoder:
        """The exported model for a few texts; torch, in a process of its own, for many."""
        settings = self.index.settings
        build = partial(
            SentenceTransformerEncoder,
            # CPU time is what a busy machine distorts least; a GPU takes none of it.
            clock=time.process_time if settings.device == "cpu" else time.perf_counter,
            threads=settings.threads,
            device=settings.device,
            batch_size=settings.batch_size,
        )
        heavy = ChildEncoder(self.model, build)
        self._opened.callback(heavy.close)
        light = OnnxEncoder(encoder_folder(self.index, self.model))
        # What is bf16 is so throughout: the exported model is fp32.
        few = 0 if self.model.dtype is Dtype.BF16 else LIGHT_CHARACTERS
        return FrugalEncoder(light, heavy, light_characters=few)

    @cached_property
    def extractor(self) -> EntityExtractor | None:
        """What reads entities besides the rules, None where the settings name nothing.

        Raises: ConfigError: what they name is not complete, or not installed.
        """
        from flows.extractors import open_extractor

        return open_extractor(
            self.index.settings, self.index.ledger, run_id=self.run_id, should_stop=self.stop.is_set
        )

    @cached_property
    def vectors(self) -> SqliteVectorCache:
        """Vectors by encoded text."""
        cache = SqliteVectorCache(self.index.layout.vectors, model_key=model_key(self.model))
        self._opened.callback(cache.close)
        return cache

    @cached_property
    def encoding(self) -> BackgroundEncoder:
        """Encodes into `vectors` beside whatever else the run does."""
        encoding = BackgroundEncoder(
            cache=self.vectors,
            encoder=self.encoder,
            limit=self.index.settings.encode_ahead,
            on_taken=self._on_taken,
            on_encoded=self._on_encoded,
            should_stop=self.stop.is_set,
            batch_size=self.index.settings.batch_size,
            clock=self.index.clock.monotonic,
        )
        self._opened.callback(encoding.close)
        return encoding

    def seconds_waited(self) -> float:
        """How long steps have waited for `encoding` so far."""
        return self.encoding.seconds_waited if "encoding" in self.__dict__ else 0.0

    @cached_property
    def parsers(self) -> ParserPool:
        """Parser processes under limits."""
        tokenizer = self.model.path / "tokenizer.json"
        return self._opened.enter_context(
            ParserPool(workers=self.index.settings.workers, tokenizer=tokenizer)
        )

    @cached_property
    def session(self) -> "FetchSession":
        """The HTTP client with its politeness, kept for the whole run."""
        from flows.sessions import open_source_session

        return self._opened.enter_context(
            open_source_session(self.source, self.index.settings, clock=self.index.clock)
        )

    @property
    def crash_point(self) -> Callable[[str], None]:
        """Crashes where `SITEGRAPH_FAULT` says so."""
        return self.index.crash_point

    def sitemaps(self) -> tuple[SitemapEntry, ...]:
        """What the sites of the seeds list; asked for once a run."""
        if self.run_id not in self._listed:
            seeds = seed_urls(self.source)
            self._listed = {self.run_id: self.session.sitemaps(seeds, should_stop=self.stop.is_set)}
        return self._listed[self.run_id]

    def export_encoder(self) -> None:
        """Leave the query encoder beside the index, once."""
        export_onnx(
            self.model, encoder_folder(self.index, self.model), cache=encoder_cache(self.index.settings)
        )

    def _on_taken(self, texts: Collection[str]) -> None:
        self.encoder.expect(texts)
        self.progress.expect("embed", len(texts))

    def _on_encoded(self, texts: int) -> None:
        self.progress.advance("embed", texts)
        self.crash_point("embed.saved")

    def close(self) -> None:
        """End children, close connections."""
        self._opened.close()
        self.index.close()


def pipeline_version(model: ModelSpec, source: Source) -> str:
    """Name everything a fragment, or what its links lead to, depends on besides the bytes."""
    from ingest.parse.document import PARSER_VERSION

    parts = {"parser": PARSER_VERSION, "tokenizer": model.sha256, "name": source.name, "seeds": source.seeds}
    settings = {"metadata": to_record(source.metadata), "scope": to_record(source.scope)}
    # Pages may address us by name; and bytes that were not kept, or may no longer be, are fetched anew.
    more = {"user_agent": source.user_agent, "keep_raw": source.keep_raw}
    # A page that could not be recognised may be once Tesseract is installed.
    recognised = {"ocr": [*source.ocr, engine()]} if source.ocr else {}
    related = {"relations": source.relations} if source.relations else {}
    return record_sha256({**parts, **settings, **more, **recognised, **related})[:16]


def open_index(settings: Settings, *, index_id: str | None = None) -> Index:
    """Open an index for writing; with *index_id*, make it where there is none.

    Raises: ConfigError: no index there, or one with other stores than the settings name.
    """
    layout = IndexLayout(Path(settings.index).resolve())
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
    return Index(layout=layout, manifest=manifest, settings=settings)
