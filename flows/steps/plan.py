"""Step 1: which documents to look at."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from prefect import task

from flows.active import active
from flows.steps.admit import admit
from flows.wiring import Pipeline
from ingest.fetch.files import list_files
from ingest.plan.frontier import plan_documents
from ingest.plan.scope import scope_refusal, seed_urls
from ingest.urls import canonical_url, file_url, registrable_domain
from schemas.documents import DocumentState, KnownDocument
from schemas.errors import GuardRefused
from schemas.source import Source, SourceKind

WAVE = 2000
BATCH_SECONDS = 20.0
"""Batches end within about so many seconds, so that a stop or a retry costs little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Documents of one shard that are looked at together."""

    shard: str
    number: int
    uris: tuple[str, ...]

    @property
    def name(self) -> str:
        """What task runs of the batch are called."""
        return f"{self.shard}-{self.number}"


def plan_source(pipeline: Pipeline) -> int:
    """Bring seeds, sitemaps or folders, and a changed scope, into the ledger; give the URIs known."""
    documents = pipeline.index.ledger.documents
    source = pipeline.source
    documents.save(_rescoped(pipeline, documents.of_source(source.name)))
    starts = _starts(pipeline)
    known = documents.of_source(source.name)
    documents.save(_revived(pipeline, known, starts))
    seeds = plan_documents(source, seed_urls(source), depth=0, found_by=None)
    admit(pipeline, [*seeds, *plan_documents(source, starts, depth=0, found_by=None)])
    return documents.count(source.name)


def plan_wave(pipeline: Pipeline, *, due_by: str | None) -> tuple[Batch, ...]:
    """Documents this run has not looked at yet, in batches of one shard; empty when nothing is left."""
    waiting = pipeline.index.ledger.documents.to_look_at(
        pipeline.source.name, run_id=pipeline.run_id, due_by=due_by, limit=WAVE
    )
    delay = pipeline.source.rate.per_host_delay
    size = 100 if delay == 0 else max(5, min(100, int(BATCH_SECONDS / delay)))
    return plan_batches([known.uri for known in waiting], size=size)


def plan_batches(uris: Sequence[str], *, size: int) -> tuple[Batch, ...]:
    """Cut URIs into batches that never mix shards; the order within a shard stays."""
    ordered = sorted(uris, key=shard_of)
    return tuple(
        Batch(shard=shard, number=number, uris=tuple(part))
        for shard, members in groupby(ordered, key=shard_of)
        for number, part in enumerate(cut(tuple(members), size))
    )


def shard_of(uri: str) -> str:
    """What must be looked at in turn: a registrable domain, or the local files."""
    return "files" if uri.startswith("files://") else registrable_domain(uri)


def cut(items: Sequence[str], size: int) -> tuple[Sequence[str], ...]:
    """Cut a sequence into parts of at most *size*."""
    return tuple(items[start : start + size] for start in range(0, len(items), size))


def _starts(pipeline: Pipeline) -> frozenset[str]:
    source = pipeline.source
    if source.kind is SourceKind.FILES:
        return file_uris(source)
    listed = [entry.url for entry in pipeline.session.sitemaps(seed_urls(source))]
    pipeline.index.ledger.runs.add_problems(pipeline.run_id, pipeline.session.problems)
    return frozenset(seed_urls(source)) | frozenset(
        url for url in map(canonical_url, listed) if url is not None
    )


def file_uris(source: Source) -> frozenset[str]:
    """URIs of the documents under the source's roots; of equal paths the first root's counts.

    Raises: GuardRefused: a root is not there, which must not read as if all its files were deleted.
    """
    uris: set[str] = set()
    for root in source.roots:
        if not Path(root).is_dir():
            raise GuardRefused("root folder is not there; nothing was changed", subject=root)
        entries = list_files(Path(root), include=(), exclude=())
        uris.update(file_url(source.name, entry.path) for entry in entries)
    return frozenset(uris)


def _revived(
    pipeline: Pipeline, known: Sequence[KnownDocument], starts: frozenset[str]
) -> list[KnownDocument]:
    """Rows of gone documents that are worth another look: something names them, or readers still see them.

    A page that did not change still vouches for what it links to, and what a guard kept in the index
    may be back.
    """
    gone = [k for k in known if k.state is DocumentState.GONE and k.run_id != pipeline.run_id]
    if not gone:
        return []
    ledger = pipeline.index.ledger
    live = ledger.generations.live(pipeline.index.current(), source=pipeline.source.name)
    named = starts | {document.uri for document in live.values()}
    if pipeline.source.kind is SourceKind.WEB:
        named |= ledger.links.targets_of({document.fragment_sha for document in live.values()})
    return [replace(k, state=DocumentState.NEW) for k in gone if k.uri in named]


def _rescoped(pipeline: Pipeline, known: Sequence[KnownDocument]) -> list[KnownDocument]:
    """Rows whose place in or out of the scope has changed with the source file."""
    changed = []
    for document in known:
        refusal = scope_refusal(document.uri, pipeline.source, depth=document.depth)
        if refusal and document.state is not DocumentState.OUT_OF_SCOPE:
            state, run_id = DocumentState.OUT_OF_SCOPE, pipeline.run_id
            changed.append(replace(document, state=state, reason=refusal, run_id=run_id))
        elif not refusal and document.state is DocumentState.OUT_OF_SCOPE:
            changed.append(replace(document, state=DocumentState.NEW, reason="", run_id=None))
    return changed


@task(task_run_name="plan-source")
def plan_source_task(run_id: str) -> int:
    """Plan the start of a run."""
    return plan_source(active(run_id))
