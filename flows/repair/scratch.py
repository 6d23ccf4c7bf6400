"""An index beside the one that is proved: what is derived again goes there, and nothing into the other.

Bytes and parsed documents are read through it from the index; rows, vectors and its ledger are its own.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from flows.repair.compare import SettledVectors
from flows.run.contexts import CrawlContext
from flows.run.index import Index, fetch_encoder, model_of
from flows.run.resources import Given, Resources
from flows.run.values import Run
from flows.run.versions import pipeline_version
from indexes.embed.cache import SqliteVectorCache
from indexes.embed.weights import model_key, token_dim
from indexes.layout import IndexLayout, IndexManifest, VectorSpace, dump_manifest
from indexes.places import cache_folder, is_in_bucket, remove_tree
from indexes.publish.current import write_current
from indexes.stores.ledger.fragment_rows import copy_answers
from indexes.stores.raw import OverlayRawStore
from indexes.wiring import create_stores, open_own_store
from runtime.progress import StageProgress
from schemas.documents import LiveDocument
from schemas.ids import sha256_hex
from schemas.source import Source

RUN = "proof"
"""Every stage knows its run by an id; this is the only one that a scratch ledger ever has."""


LEFT = timedelta(days=3)
"""How long an interrupted proof may be gone on with; a new attempt begins it again."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Scratch:
    """A generation of an index, and the index in which it is derived again.

    `live` are the documents of the generation, `sources` those that the ledger knows.
    """

    held: Index
    generation: int
    index: Index
    live: Mapping[str, LiveDocument]
    sources: Mapping[str, Source]
    vectors: SettledVectors
    resources: Resources

    def crawling(self, source: str) -> CrawlContext:
        """What stages that parse documents of a source are given."""
        version = pipeline_version(self.resources.model, self.sources[source])
        return replace(self.resources.crawling(), source=self.sources[source], pipeline_version=version)


def scratch_folder(index: Index, generation: int, *, mode: str) -> Path:
    """Where a generation is derived again: in the cache of this machine, one place for each proof of it."""
    sha = index.ledger.manifests.get(generation) or ""
    name = sha256_hex(f"{index.manifest.index_id}:{generation}:{mode}:{sha256_hex(sha)}")[:32]
    return cache_folder(index.settings, "proofs") / name


def forget_older(folder: Path, *, but: Path, now: float) -> None:
    """Remove what proofs left that were interrupted and never gone on with."""
    for other in folder.glob("*"):
        if other != but and now - other.stat().st_mtime > LEFT.total_seconds():
            remove_tree(other)


@contextmanager
def open_scratch(
    index: Index, generation: int, folder: Path, *, progress: StageProgress, stop: threading.Event
) -> Iterator[Scratch]:
    """Open the scratch index in *folder*, made where it is not there; what is interrupted stays for the next.

    It is removed where the block ends by itself.
    """
    layout, space = IndexLayout(folder), index.chunks.space(generation)
    live, sources = index.ledger.generations.live(generation), index.ledger.sources.all()
    with ExitStack() as stack:
        scratch = _open(index, layout, space)
        stack.callback(scratch.close)
        model = model_of(scratch)
        cache = SqliteVectorCache(layout.vectors, model_key=model_key(model), token_dim=token_dim(model))
        stack.callback(cache.close)
        vectors = SettledVectors(cache, index.chunks.at(generation))
        resources = Resources(
            Run(index=str(layout.root), source=RUN, run_id=RUN),
            index=scratch,
            source=Source(name=RUN, kind="files"),
            progress=progress,
            stop=stop,
            given=Given(vectors=vectors, tools=()),
        )
        stack.callback(resources.close)
        yield Scratch(
            held=index,
            generation=generation,
            index=scratch,
            live=live,
            sources={name: sources[name] for name in {one.source for one in live.values()} & sources.keys()},
            vectors=vectors,
            resources=resources,
        )
    remove_tree(folder)


def _open(index: Index, layout: IndexLayout, space: VectorSpace) -> Index:
    settings = replace(
        index.settings,
        index=str(layout.root),
        graph=None,
        ledger_url=None,
        raw_url=None,
        task_runner="threads",
        fault=None,
    )
    manifest = IndexManifest(index_id=f"proof-{index.manifest.index_id}", graph="lance", model=space.model)
    layout.root.mkdir(parents=True, exist_ok=True)
    _link_encoder(index, layout, space)
    remove_tree(layout.lance)  # rows are written anew; what was parsed and encoded stays
    create_stores(layout, manifest, settings)
    write_current(layout.root, 0)
    layout.manifest.write_text(dump_manifest(manifest))
    scratch = Index(layout=layout, manifest=manifest, settings=settings)
    scratch.raw = OverlayRawStore(open_own_store(layout.raw), index.raw)
    scratch.fragments = OverlayRawStore(open_own_store(layout.fragments), index.fragments)
    for unfinished in scratch.ledger.generations.unfinished():
        scratch.ledger.generations.abort(unfinished.generation)
    copy_answers(index.ledger, scratch.ledger)
    if scratch.ledger.runs.interrupted(RUN, since="") is None:
        scratch.ledger.runs.start(RUN, source=RUN, now=scratch.now())
    return scratch


def _link_encoder(index: Index, layout: IndexLayout, space: VectorSpace) -> None:
    """Let the scratch index have the exported encoder of the other, which it only reads."""
    there, here = index.layout.root / space.encoder, index.local / space.encoder
    if is_in_bucket(there):
        fetch_encoder(there, here)
    layout.encoder.unlink(missing_ok=True)
    layout.encoder.symlink_to(Path(here).resolve(), target_is_directory=True)
