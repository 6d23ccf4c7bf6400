"""By how many rows of each kind each source grows with a generation."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from schemas.changes import add_counts
from schemas.edges import Edge
from schemas.nodes import Chunk, Node, kind_of

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
