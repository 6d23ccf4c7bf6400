"""What stands around the best seeds, read in five batched calls for any number of them."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

from indexes.ports import GraphReader
from retrieval.search.parallel import run_in_parallel
from schemas.edges import Edge, EdgeKind
from schemas.nodes import Chunk, PdfRegion, Section

SEEDS = 30
"""Seeds that are looked around; the rest of the pool only competes."""
NODES_MAX = 1200
"""Parts and chunks below the sections of the seeds and their parents, beyond which only the own are read."""
_TREE = frozenset({EdgeKind.CONTAINS, EdgeKind.PARENT_OF})
_INTO = frozenset({*_TREE, EdgeKind.EXPLAINED_BY})
_ACROSS = frozenset({EdgeKind.EXPLAINED_BY, EdgeKind.LINKS_TO, EdgeKind.SIMILAR_TO})


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Seeds, best first, and what the graph contains around them.

    `above` are the tree edges into the parents' children of the seeds' sections (or PDF regions) by child,
    `below` those out of sections, regions and their parents by parent. `leaving` are the other edges from
    seeds, their documents and their tools, by source. `parts` are the sections and regions seen.
    `dense` says that there was too much, so that only the seeds' own sections were read.
    """

    seeds: tuple[Chunk, ...]
    above: Mapping[str, Edge] = field(default_factory=dict)
    below: Mapping[str, tuple[Edge, ...]] = field(default_factory=dict)
    leaving: Mapping[str, tuple[Edge, ...]] = field(default_factory=dict)
    explained: tuple[Edge, ...] = ()
    parts: Mapping[str, Section | PdfRegion] = field(default_factory=dict)
    dense: bool = False

    def chunks_of(self, part: str) -> tuple[str, ...]:
        """Chunks right below a section or region."""
        return tuple(edge.dst for edge in self.below.get(part, ()) if edge.dst.startswith("chunk:"))

    def parts_of(self, parent: str) -> tuple[Section | PdfRegion, ...]:
        """Sections or regions right below a node, in reading order."""
        found = (self.parts.get(edge.dst) for edge in self.below.get(parent, ()))
        return tuple(
            sorted({part.id: part for part in found if part}.values(), key=lambda p: (p.ordinal, p.id))
        )


def part_of(chunk: Chunk) -> str | None:
    """Return the section or region a chunk was cut from."""
    return chunk.section_id or chunk.region_id


def look_around(graph: GraphReader, seeds: Iterable[Chunk]) -> Surroundings:
    """Read parents, what hangs below those, links and similar chunks, then what the parts are.

    Only what hangs below counts as too much: a document may have a thousand links or pages, of which rules
    take those that fit the question.
    """
    best = tuple(seeds)[:SEEDS]
    own = sorted({part for chunk in best if (part := part_of(chunk))})
    into = graph.edges_to([*own, *(chunk.id for chunk in best)], kinds=_INTO)
    explained = tuple(edge for edge in into if edge.kind is EdgeKind.EXPLAINED_BY)
    above = _parents(into, own)
    parents = sorted({edge.src for edge in above.values()})
    ends = {chunk.doc for chunk in best} | {chunk.id for chunk in best} | {edge.src for edge in explained}
    hanging, leaving = run_in_parallel(
        [
            partial(graph.edges_from, sorted({*own, *parents}), kinds=_TREE),
            partial(graph.edges_from, sorted(ends), kinds=_ACROSS),
        ]
    )
    tree = list(hanging)
    dense = len({edge.dst for edge in tree}) > NODES_MAX
    if dense:
        tree = [edge for edge in tree if edge.src in own]
    parts = _parts(graph, {edge.dst for edge in tree} | set(own) | set(parents))
    missing = sorted(parts.keys() - {edge.src for edge in tree})
    tree += graph.edges_from(missing, kinds={EdgeKind.CONTAINS}) if missing and not dense else ()
    return Surroundings(
        seeds=best,
        above={} if dense else above,
        below=_by_source(tree),
        leaving=_by_source(leaving),
        explained=explained,
        parts=parts,
        dense=dense,
    )


def _parents(into: Collection[Edge], own: Collection[str]) -> dict[str, Edge]:
    """The edge from the nearest parent: a section's parent section, else its page."""
    nearest_first = sorted(into, key=lambda edge: (edge.dst, edge.kind is not EdgeKind.PARENT_OF, edge.id))
    above: dict[str, Edge] = {}
    for edge in nearest_first:
        if edge.dst in own and edge.kind in _TREE:
            above.setdefault(edge.dst, edge)
    return above


def _parts(graph: GraphReader, ids: Collection[str]) -> dict[str, Section | PdfRegion]:
    wanted = sorted(one for one in ids if one.startswith(("section:", "pdfregion:")))[:NODES_MAX]
    return {node.id: node for node in graph.nodes(wanted) if isinstance(node, Section | PdfRegion)}


def _by_source(edges: Iterable[Edge]) -> dict[str, tuple[Edge, ...]]:
    found: dict[str, list[Edge]] = {}
    for edge in edges:
        found.setdefault(edge.src, []).append(edge)
    return {src: tuple(found[src]) for src in sorted(found)}
