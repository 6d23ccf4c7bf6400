"""Deciding the rows of the next generation, and freezing them into a plan that can be written twice."""

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flows.derive.diff import base_manifest_sources, families_after, load_difference
from flows.derive.embed import carry_over
from flows.derive.entities import EntityRows, SourceCounts, add_growth
from flows.derive.link import DOCUMENTS_PER_PAYLOAD, LinkedRows, NextGeneration, link_documents
from flows.derive.neighbours import LinkStatePlan, SimilarPlan, SimilarRows
from flows.run.contexts import IndexContext
from flows.run.generations import changes_model, space_for
from flows.run.index import Index
from flows.run.values import ComparedSource, Difference, Frozen, Linked
from indexes.frozen_plan import dump_payload, plan_sha256
from indexes.ports import ChunkReader
from indexes.publish.generation import load_generation
from indexes.stores.ledger.generations import Generation
from indexes.stores.ledger.leases import Lease
from ingest.diff.feed import FeedPlan
from ingest.diff.guard import emptied_refusal, wordless_refusal
from schemas.advice import ADVICE, Trouble
from schemas.batches import batched
from schemas.changes import FeedEntry, FeedKind, RowChanges
from schemas.cost import Cause, caused_by, count_rows
from schemas.errors import GuardRefused
from schemas.ids import canonical_json
from schemas.records import from_record, to_record
from schemas.report import NameCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRows:
    """Outbox payloads of a plan that is not frozen yet; `texts` is how many texts had no vector.

    `links` is the hash of what is known of all links.
    """

    payloads: tuple[str, ...]
    sources: SourceCounts
    chunks_added: int
    chunks_removed: int
    emptied: int = 0
    links: str = ""
    redirects: Mapping[str, str] = field(default_factory=dict)
    feed: tuple[FeedEntry, ...] = ()
    similar: SimilarRows
    names: NameCounts
    texts: int = 0


class RowPlan:
    """Takes documents in, batch by batch, and puts their rows into the outbox; then decides what is left."""

    def __init__(self, run: IndexContext, difference: Difference, generation: NextGeneration) -> None:
        self._run = run
        self._generation = generation
        self._feed = FeedPlan(difference.changes, generation.redirects)
        self._similar = SimilarPlan(run=run, base=difference.base)
        self._links = LinkStatePlan(run=run, base=difference.base)
        self._sources: SourceCounts = base_manifest_sources(run.index, difference.base)
        self._payloads: list[str] = []
        self._touched: set[str] = set()
        self._added = self._removed = self._emptied = self._texts = 0

    def link(self, docs: Sequence[str]) -> None:
        """Decide the rows of some documents."""
        linked = link_documents(self._generation, docs)
        self._sources = add_growth(self._sources, linked.growth)
        self._feed.add(linked.steps)
        self._similar.add(linked.rows)
        self._links.add(linked.links)
        self._count(linked)
        if linked.rows:
            self._keep(linked.rows)
            self._touched.update(chunk.id for chunk in linked.rows.chunks)
            self._touched.update(linked.rows.chunk_deletes)
            self._run.crash_point("outbox.midway")

    def carry_over(self) -> None:
        """Where the model changes, take in the passages that stay as they are; nothing where it does not."""
        if changes_model(self._run):
            for rows, texts in carry_over(self._run, self._generation.base, without=self._touched):
                self._texts += texts
                self._similar.add(rows)
                self._keep(rows)

    def decide(self) -> PlannedRows:
        """Decide the edges and entities that follow from all documents together; give the whole plan."""
        with caused_by(Cause.SIMILAR):
            similar = self._similar.decide()
        with caused_by(Cause.NAMES):
            entities = self._generation.entities.decide()
        with caused_by(Cause.AUTHORITY):
            links = self._links.decide()
        return PlannedRows(
            payloads=(*self._payloads, *similar.payloads, *entities.payloads),
            sources=self._grown(similar, entities),
            chunks_added=self._added,
            chunks_removed=self._removed,
            emptied=self._emptied,
            links=links,
            redirects=self._generation.locations,
            feed=self._feed.entries(),
            similar=similar,
            names=self._generation.names.counts(),
            texts=self._texts,
        )

    def _grown(self, similar: SimilarRows, entities: EntityRows) -> SourceCounts:
        return add_growth(add_growth(self._sources, similar.growth), entities.growth)

    def _count(self, linked: LinkedRows) -> None:
        self._added += linked.rows.chunks_added
        self._removed += len(linked.rows.chunk_deletes)
        self._emptied += linked.emptied
        self._texts += linked.texts

    def _keep(self, rows: RowChanges) -> None:
        self._payloads.append(dump_payload(self._run.index.outbox, rows))


CHUNKS_AT_ONCE = 1000
_log = logging.getLogger(__name__)


def link_source(run: IndexContext, compared: ComparedSource) -> Linked:
    """Plan every row of the next generation, and keep the plan in the outbox."""
    waited = run.encoding().seconds_waited
    planned = plan_rows(run, load_difference(run.index, compared), as_of=compared.as_of)
    return Linked(
        rows=run.index.outbox.put(canonical_json(to_record(planned)).encode()),
        chunks_added=planned.chunks_added,
        chunks_removed=planned.chunks_removed,
        seconds_waited=run.encoding().seconds_waited - waited,
    )


def freeze_plan(
    run: IndexContext, compared: ComparedSource, linked: Linked, *, lease: Lease, accept: bool, embedded: int
) -> Frozen:
    """Fix what `link_source` planned as the next generation; *embedded* texts got their vector before.

    Raises: GuardRefused: readers would find nothing, or much less, of the source.
    """
    difference, planned = load_difference(run.index, compared), load_rows(run.index, linked.rows)
    check_text(run, difference, planned, accept=accept)
    frozen = freeze_rows(
        run, difference, planned, lease=lease, as_of=compared.as_of, embedded=embedded + planned.texts
    )
    return Frozen(generation=frozen.generation)


def load_rows(index: Index, sha256: str) -> PlannedRows:
    """Read a plan back that `link_source` kept.

    Raises: DamageFound: it is damaged or lost.
    """
    return from_record(PlannedRows, json.loads(index.outbox.get(sha256)))


def plan_rows(run: IndexContext, difference: Difference, *, as_of: str) -> PlannedRows:
    """Decide every row of the next generation, a payload for each batch of documents."""
    changes = {change.doc: change for change in difference.changes}
    generation = NextGeneration(
        run=run, base=difference.base, changes=changes, as_of=as_of, observed=difference.observed
    )
    affected, plan = generation.affected(), RowPlan(run, difference, generation)
    _log.info(
        "linking %d documents: %d that change, and those that link to or name them",
        len(affected),
        len(changes),
    )
    run.progress.expect("link", len(affected))
    count_rows("documents", len(affected))
    for docs in batched(affected, DOCUMENTS_PER_PAYLOAD):
        run.raise_if_stopped()
        plan.link(docs)
        run.progress.advance("link", len(docs))
    plan.carry_over()
    return plan.decide()


def check_text(run: IndexContext, difference: Difference, planned: PlannedRows, *, accept: bool) -> None:
    """Stop before anything is frozen when readers would find nothing, or much less, of the source.

    Raises: GuardRefused: every document is empty, as behind a login or a script; or many have lost all
    their text and *accept* is false.
    """
    if refusal := wordless_refusal(planned.sources.get(run.source.name, {})):
        raise GuardRefused(f"{refusal}; nothing was changed", subject=run.source.name)
    refusal = emptied_refusal(difference.changes, emptied=planned.emptied, live=difference.live)
    if refusal and not accept:
        raise GuardRefused(f"{refusal}; nothing was changed; {ADVICE[Trouble.LOSS]}", subject=run.source.name)


def freeze_rows(
    run: IndexContext,
    difference: Difference,
    planned: PlannedRows,
    *,
    lease: Lease,
    as_of: str,
    embedded: int,
) -> Generation:
    """Fix the plan as the next generation; from here on a crash is followed by a replay.

    *embedded* is how many texts had no vector before the run.
    """
    generations, source = run.index.ledger.generations, run.source.name
    number = generations.begin(
        base=difference.base, source=source, run_id=run.run_id, token=lease.token, as_of=as_of
    )
    run.crash_point("plan.before_freeze")
    generations.freeze(
        number,
        payloads=planned.payloads,
        plan_sha=plan_sha256(planned.payloads, base=difference.base, source=source),
        changes=difference.changes,
        details={
            **_details(difference, planned, embedded=embedded),
            "space": to_record(space_for(run, number)),
            **_families(run, difference, planned),
        },
        redirects=planned.redirects,
        feed=planned.feed,
        former=former_texts(run.index.chunks.at(difference.base), planned.feed),
        keep_changes=run.index.settings.keep_changes,
    )
    run.crash_point("plan.frozen")
    frozen = generations.get(number)
    assert frozen is not None
    _log.info(
        "generation %d planned on %d: %d chunks come, %d go; %d passages compared for likeness",
        number,
        difference.base,
        planned.chunks_added,
        planned.chunks_removed,
        planned.similar.counts.searched,
    )
    return frozen


def _families(run: IndexContext, difference: Difference, planned: PlannedRows) -> Mapping[str, Any]:
    before = load_generation(run.index.layout, difference.base).families
    found = families_after(before, run.source, there=planned.sources)
    return {"families": [to_record(one) for one in found]} if found else {}


def former_texts(chunks: ChunkReader, feed: Iterable[FeedEntry]) -> Iterator[tuple[str, str]]:
    """Return ids and texts of the passages that go, so that it can be told later what stood there."""
    gone = [entry.old_id for entry in feed if entry.kind is FeedKind.CHUNK and entry.old_id != entry.new_id]
    for ids in batched([id_ for id_ in gone if id_ is not None], CHUNKS_AT_ONCE):
        yield from ((chunk.id, chunk.text) for chunk in chunks.get(ids))


def _details(difference: Difference, planned: PlannedRows, *, embedded: int) -> Mapping[str, Any]:
    return {
        "sources": planned.sources,
        "documents": difference.documents,
        "chunks": {"added": planned.chunks_added, "removed": planned.chunks_removed},
        "embedded": embedded,
        "guard": difference.guard,
        "names": to_record(planned.names),
        "links": planned.links or None,
        "similar": planned.similar.details,
    }
