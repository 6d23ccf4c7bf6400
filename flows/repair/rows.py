"""The rows that differ from what the parsed documents give, planned as a generation of their own."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np

from flows.commit.publish import prune_generations
from flows.commit.recover import publish_rows
from flows.commit.restore import REPAIR, from_nothing, require_ledger
from flows.derive.diff import base_manifest_sources
from flows.derive.freeze import PlannedRows, plan_rows
from flows.derive.link import DOCUMENTS_PER_PAYLOAD, NextGeneration, link_documents
from flows.derive.neighbours import SimilarPlan
from flows.run.contexts import IndexContext
from flows.run.resources import Resources
from flows.run.values import Difference
from indexes.digests import edge_sha256, node_sha256
from indexes.frozen_plan import dump_payload
from indexes.ports import GraphReader
from indexes.stores.ledger.leases import Lease
from ingest.link.similar_to import EdgeChanges, similar_changes, similar_rows
from ingest.link.similarity import Similarity
from ingest.urls import is_tools_url
from schemas.batches import batched
from schemas.changes import ChangeKind, DocumentChange, RowChanges
from schemas.cost import count_rows
from schemas.documents import LiveDocument
from schemas.edges import Edge
from schemas.nodes import Node


class _Row(Protocol):
    @property
    def id(self) -> str: ...


R = TypeVar("R", bound=_Row)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRows:
    """The rows of a table: by id the hash that each bears, and the ids of those that it does not fit."""

    hashes: Mapping[str, str]
    damaged: frozenset[str]


def select_differing(
    wanted: Iterable[R], stored: StoredRows, *, sha256: Callable[[R], str]
) -> tuple[tuple[R, ...], tuple[str, ...]]:
    """Return the rows to write, and the ids of those to delete before that.

    A store leaves a row alone whose hash is the one to write, even where it no longer fits the row: deleted,
    it is written whatever it bears.
    """
    differing = tuple(
        row for row in wanted if row.id in stored.damaged or stored.hashes.get(row.id) != sha256(row)
    )
    return differing, tuple(row.id for row in differing if row.id in stored.damaged)


def select_strays(stored: StoredRows, wanted: Collection[str]) -> tuple[str, ...]:
    """Return the ids of rows that nothing gives, in id order."""
    return tuple(sorted(stored.hashes.keys() - wanted))


@dataclass(kw_only=True)
class RepairedGraph:
    """Takes in every row that a graph should have; gives those that it has not, or otherwise."""

    nodes: StoredRows
    edges: StoredRows
    _wanted: set[str] = field(default_factory=set)

    def select(self, rows: RowChanges) -> RowChanges:
        """The rows that differ; those that do not fit the hash they bear are deleted before."""
        self._wanted.update(row.id for row in (*rows.nodes, *rows.edges))
        nodes, node_deletes = select_differing(rows.nodes, self.nodes, sha256=node_sha256)
        edges, edge_deletes = select_differing(rows.edges, self.edges, sha256=edge_sha256)
        return replace(rows, nodes=nodes, node_deletes=node_deletes, edges=edges, edge_deletes=edge_deletes)

    def keep(self, nodes: Iterable[Node], edges: Iterable[Edge]) -> None:
        """Leave rows as they are, and what edges lead from or to."""
        self._wanted.update(node.id for node in nodes)
        for edge in edges:
            self._wanted.update((edge.id, edge.src, edge.dst))

    def strays(self) -> RowChanges:
        """The rows that nothing gives, once all have been taken in."""
        return RowChanges(
            node_deletes=select_strays(self.nodes, self._wanted),
            edge_deletes=select_strays(self.edges, self._wanted),
        )


def repaired_graph(graph: GraphReader) -> RepairedGraph:
    """Read from a graph the hashes of its rows, and which rows do not fit theirs."""
    (nodes, edges), damaged = graph.row_hashes(), frozenset(graph.damaged_rows())
    return RepairedGraph(
        nodes=StoredRows(hashes=nodes, damaged=damaged & nodes.keys()),
        edges=StoredRows(hashes=edges, damaged=damaged & edges.keys()),
    )


@dataclass(kw_only=True)
class ComparedAgain(SimilarPlan):
    """Compares all passages, whatever is remembered; gives those of their edges that `select` picks."""

    select: Callable[[tuple[Edge, ...]], RowChanges]

    @property
    def _known(self) -> Similarity | None:
        return None

    def _against_the_graph(self, similarity: Similarity) -> EdgeChanges:
        every = similar_changes({}, similar_rows(similarity, np.arange(len(similarity.chunks.ids))))
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
    planned = plan_difference(resources.indexing(), as_of=as_of)
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
    planned = plan_rows(resources.indexing(), difference, as_of=as_of)
    return _publish(resources, lease, difference, planned, as_of=as_of)


def plan_difference(run: IndexContext, *, as_of: str) -> PlannedRows:
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
    for part in batched(sorted(live), DOCUMENTS_PER_PAYLOAD):
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
    made = publish_rows(resources, difference, planned, lease=lease, as_of=as_of)
    prune_generations(resources.index, source=REPAIR)
    return made.generation
