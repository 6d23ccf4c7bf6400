"""The rows that differ from what the parsed documents give, planned as a generation of their own."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flows.commit.abort import abort_generation
from flows.commit.publish import prune, publish_generation
from flows.commit.rebuild_stores import REPAIR, from_nothing, require_ledger
from flows.commit.verify import verify_generation
from flows.commit.write import write_plan
from flows.derive.diff import base_manifest_sources
from flows.derive.freeze import freeze, plan_rows
from flows.derive.link import DOCUMENTS_PER_PAYLOAD, NextGeneration, link_documents
from flows.derive.row_plan import PlannedRows
from flows.derive.similar_to import SimilarPlan
from flows.repair.difference import repaired_graph
from flows.run.batches import cut
from flows.run.contexts import DeriveContext
from flows.run.resources import Resources
from flows.run.values import Difference
from indexes.ports import GraphReader
from indexes.stores.ledger.leases import Lease
from indexes.write.outbox import dump_payload
from ingest.link.similar_to import EdgeChanges, row_changes, rows_of
from ingest.link.similarity import Similarity
from ingest.urls import is_tools_url
from schemas.causes import count_rows
from schemas.changes import ChangeKind, DocumentChange, RowChanges
from schemas.documents import LiveDocument
from schemas.edges import Edge
from schemas.errors import DamageFound, SchemaMismatch


@dataclass(kw_only=True)
class ComparedAgain(SimilarPlan):
    """Compares all passages, whatever is remembered; gives those of their edges that `select` picks."""

    select: Callable[[tuple[Edge, ...]], RowChanges]

    @property
    def _known(self) -> Similarity | None:
        return None

    def _against_the_graph(self, similarity: Similarity) -> EdgeChanges:
        every = row_changes({}, rows_of(similarity, np.arange(len(similarity.chunks.ids))))
        rows = self.select(every.upserts)
        return EdgeChanges(upserts=rows.edges, deletes=rows.edge_deletes, growth=every.growth)


class FromNothing(NextGeneration):
    """The same documents, whose rows are decided as if the graph had none: what it has is compared later."""

    @cached_property
    def graph(self) -> GraphReader:
        """No row."""
        return self.run.index.graph.at(0)


def publish_difference(resources: Resources, lease: Lease, *, anyway: bool) -> int | None:
    """Publish the rows that documents should have and the stores have not; None where none differ.

    *anyway*: publish although no row differs, for what goes with a generation.

    Raises: DamageFound, SchemaMismatch: the stores do not take it: more is damaged than rows of documents.
    """
    index, as_of = resources.index, resources.index.now()
    planned = plan_difference(resources.deriving(), as_of=as_of)
    if not planned.payloads and not anyway:
        return None
    difference = Difference(base=index.current(), changes=(), documents={})
    return _publish(resources, lease, difference, planned, as_of=as_of)


def publish_all_rows(resources: Resources, lease: Lease) -> int:
    """Publish all rows in new tables, from the parsed documents and the vectors that are cached.

    Raises: DamageFound: a parsed document, or the ledger that names them, is lost as well.
    """
    require_ledger(resources.index)
    index, as_of = resources.index, resources.index.now()
    difference = from_nothing(index, Difference(base=index.current(), changes=(), documents={}))
    planned = plan_rows(resources.deriving(), difference, as_of=as_of)
    return _publish(resources, lease, difference, planned, as_of=as_of)


def plan_difference(run: DeriveContext, *, as_of: str) -> PlannedRows:
    """Decide every row again, and put those that the stores have not, or not so, into the outbox.

    Of the graph no row is read that is not whole: each is compared by its hash.
    """
    index, base = run.index, run.index.current()
    live, stored = index.ledger.generations.live(base), index.graph.at(base)
    generation = FromNothing(run=run, base=base, changes=_parsed_tools(live.values()), as_of=as_of)
    graph, payloads, texts = repaired_graph(stored), [], 0
    similar = ComparedAgain(run=run, base=base, select=lambda edges: graph.select(RowChanges(edges=edges)))
    # What a lost ledger left unknown stays until the run of its own source.
    unknown = [doc for doc, document in live.items() if not document.fragment_sha]
    if unknown:
        graph.keep(stored.nodes_of(unknown), stored.edges_of(unknown))
    run.progress.expect("link", len(live))
    count_rows("documents", len(live))
    for part in cut(sorted(live), DOCUMENTS_PER_PAYLOAD):
        run.raise_if_stopped()
        linked = link_documents(generation, part)
        similar.add(linked.rows)
        texts += linked.texts
        if rows := graph.select(linked.rows):
            payloads.append(dump_payload(index.outbox, rows))
        run.progress.advance("link", len(part))
    alike = similar.decide()
    if strays := graph.strays():
        payloads.append(dump_payload(index.outbox, strays))
    return PlannedRows(
        payloads=(*payloads, *alike.payloads),
        # What was published is what it must be again; what the damaged stores have says nothing.
        sources=base_manifest_sources(index, base),
        chunks_added=0,
        chunks_removed=0,
        redirects=index.ledger.redirects.at(base),
        similar=alike,
        names=generation.names.counts(),
        texts=texts,
    )


def _parsed_tools(live: Iterable[LiveDocument]) -> Mapping[str, DocumentChange]:
    """Files of tools as if they had just been read: else their names would come from the graph."""
    return {
        one.doc: DocumentChange(kind=ChangeKind.REFRESHED, old=one, new=one)
        for one in live
        if one.fragment_sha and is_tools_url(one.uri)
    }


def _publish(
    resources: Resources, lease: Lease, difference: Difference, planned: PlannedRows, *, as_of: str
) -> int:
    deriving, committing = resources.deriving(), resources.committing()
    made = freeze(deriving, difference, planned, lease=lease, as_of=as_of, embedded=planned.texts)
    try:
        staged = write_plan(committing, made, lease=lease)
        verify_generation(committing, made, staged)
    except (DamageFound, SchemaMismatch):
        abort_generation(committing, made)
        raise
    publish_generation(committing, made, staged, lease=lease)
    prune(resources.index, source=REPAIR)
    return made.generation
