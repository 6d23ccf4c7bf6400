"""Every row of a generation that is being decided, gathered a batch of documents at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from flows.derive.diff import base_manifest_sources
from flows.derive.entities import EntityRows
from flows.derive.link import LinkedRows, NextGeneration, link_documents
from flows.derive.link_state import LinkStatePlan
from flows.derive.reembed import carry_over
from flows.derive.row_counts import SourceCounts, add_growth
from flows.derive.similar_to import SimilarPlan, SimilarRows
from flows.run.contexts import DeriveContext
from flows.run.values import Difference
from flows.run.vector_space import changes_model
from indexes.write.outbox import dump_payload
from ingest.diff.feed import FeedPlan
from schemas.causes import caused_by
from schemas.changes import RowChanges
from schemas.cost import Cause
from schemas.feed import FeedEntry
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

    def __init__(self, run: DeriveContext, difference: Difference, generation: NextGeneration) -> None:
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
