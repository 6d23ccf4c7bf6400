"""Which entities come, stay and go, and by how many rows each source grows."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from flows.derive.names import NextNames
from indexes.frozen_plan import dump_payload
from indexes.ports import GraphReader
from ingest.link.catalogue import Catalogue
from schemas.changes import RowChanges, add_counts
from schemas.edges import Edge, EdgeKind
from schemas.nodes import Chunk, Entity, Node, NodeKind, kind_of

SourceCounts = Mapping[str, Mapping[str, Mapping[str, int]]]
"""Rows by source, table and kind; under the empty name are those of no source."""

Rows = tuple[Sequence[Node], Sequence[Edge], Sequence[Chunk]]


def growth_of(desired: Rows, held: Rows) -> SourceCounts:
    """How many more rows of each kind each source will have."""
    growth: dict[str, dict[str, Counter[str]]] = {}
    for rows, sign in ((desired, 1), (held, -1)):
        for source, table, kind in _kinds(rows):
            growth.setdefault(source, {}).setdefault(table, Counter())[kind] += sign
    return growth


def _kinds(rows: Rows) -> Iterable[tuple[str, str, str]]:
    nodes, edges, chunks = rows
    yield from ((node.source, "nodes", kind_of(node).value) for node in nodes)
    yield from ((edge.source, "edges", edge.kind.value) for edge in edges)
    yield from ((chunk.source, "chunks", chunk.kind) for chunk in chunks)


def add_growth(base: SourceCounts, growth: SourceCounts) -> dict[str, dict[str, dict[str, int]]]:
    """Counts of every source after the growth; sources left without rows are dropped."""
    sources = {
        source: add_counts(base.get(source, {}), growth.get(source, {}))
        for source in sorted({*base, *growth})
    }
    return {source: counts for source, counts in sources.items() if any(counts.values())}


ENTITY_KINDS = (EdgeKind.MENTIONS, EdgeKind.NAMES, EdgeKind.RELATED)
"""Edges that have an entity at one end or at both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityRows:
    """A payload of entities that go or are called otherwise now, and by how much counts grow."""

    payloads: tuple[str, ...]
    growth: SourceCounts


@dataclass(kw_only=True)
class EntityPlan:
    """Gathers batch by batch which entities are spoken of; at the end tells which are no more.

    An entity is written with the first batch that speaks of it. It goes with the last edge at it, which only
    the whole run can tell.
    """

    names: NextNames
    graph: GraphReader
    _wanted: set[str] = field(default_factory=set)
    _new: set[str] = field(default_factory=set)
    _lost: set[str] = field(default_factory=set)
    _read: set[str] = field(default_factory=set)

    def add(
        self, docs: Iterable[str], edges: Iterable[Edge], held: Iterable[Edge], catalogue: Catalogue
    ) -> tuple[Entity, ...]:
        """Take in the edges of some documents as they will be and as they were; give entities to write."""
        self._read.update(docs)
        ends = _entity_ends(edges)
        self._lost |= _entity_ends(held) - ends
        wanted = self._entities(ends - self._wanted, catalogue)
        self._wanted |= ends
        there = {node.id: node for node in self.graph.nodes(wanted)}
        self._new |= wanted.keys() - there.keys()
        return tuple(entity for id_, entity in wanted.items() if there.get(id_) != entity)

    def decide(self) -> EntityRows:
        """Decide what goes and what is called otherwise, once every batch has been taken in."""
        gone = self._orphans()
        rows = RowChanges(nodes=self._renamed(gone), node_deletes=tuple(sorted(gone)))
        outbox = self.names.run.index.outbox
        return EntityRows(
            payloads=(dump_payload(outbox, rows),) if rows else (),
            growth={"": {"nodes": {NodeKind.ENTITY.value: len(self._new) - len(gone)}}},
        )

    def _entities(self, ids: Collection[str], catalogue: Catalogue) -> dict[str, Entity]:
        """Entities by id, in id order, as the whole catalogue has them; else as the texts just read do."""
        found = {id_: self.names.found[id_] for id_ in ids if id_ not in catalogue.entities}
        listed = self.names.listed(found.values())
        found = {id_: listed.get(id_, entity) for id_, entity in found.items()}
        self.names.found.clear()
        return {id_: found[id_] if id_ in found else catalogue.entities[id_] for id_ in sorted(ids)}

    def _orphans(self) -> frozenset[str]:
        """Entities that lost an edge, and have none left in any document that was not read again."""
        lost = sorted(self._lost - self._wanted)
        edges = (
            *self.graph.edges_to(lost, kinds=ENTITY_KINDS),
            *self.graph.edges_from(lost, kinds=ENTITY_KINDS),
        )
        return frozenset(lost) - _entity_ends(edge for edge in edges if edge.doc not in self._read)

    def _renamed(self, gone: frozenset[str]) -> tuple[Entity, ...]:
        """Entities whose names changed although nothing that speaks of them did."""
        after = self.names.renaming.after
        changed = after.keys() - self._wanted - gone
        return tuple(after[node.id] for node in self.graph.nodes(changed) if after[node.id] != node)


def _entity_ends(edges: Iterable[Edge]) -> set[str]:
    ends: set[str] = set()
    for edge in edges:
        if edge.kind is not EdgeKind.NAMES and edge.kind in ENTITY_KINDS:
            ends.add(edge.dst)
        if edge.kind in (EdgeKind.NAMES, EdgeKind.RELATED):
            ends.add(edge.src)
    return ends
