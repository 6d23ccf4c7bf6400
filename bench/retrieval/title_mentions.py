"""Titles that passages say of other documents, as the edges of the graph, for an index that has none."""

import re
from collections.abc import Collection, Iterable, Mapping

from indexes.ports import ChunkReader, GraphReader
from schemas.edges import Edge, EdgeKind, plain_edge
from schemas.ids import make_id
from schemas.nodes import Chunk

LETTERS_MIN = 4
_SUFFIX = re.compile(r"\s*\([^()]*\)$")
_WORD = re.compile(r"\w+")


def title_edges(chunks: Iterable[Chunk]) -> tuple[Edge, ...]:
    """Give `mentions` and `names` edges for every title that the text of another document says.

    A title counts without a trailing "(...)", with its case, at word boundaries, from 4 characters.
    """
    rows = tuple(chunks)
    titles = {row.doc: _SUFFIX.sub("", row.heading_path[0]) for row in rows if row.heading_path}
    by_word: dict[str, list[tuple[str, str]]] = {}
    for doc, title in sorted(titles.items()):
        first = _WORD.search(title)
        if first and len(title) >= LETTERS_MIN:
            by_word.setdefault(first[0], []).append((title, doc))
    found = {
        (row.id, title, row.doc, row.source)
        for row in rows
        for word in set(_WORD.findall(row.text))
        for title, doc in by_word.get(word, ())
        if doc != row.doc and re.search(rf"(?<!\w){re.escape(title)}(?!\w)", row.text)
    }
    said = {title for _, title, _, _ in found}
    mentions = [
        plain_edge(EdgeKind.MENTIONS, chunk, make_id("entity", title), doc=doc, source=source)
        for chunk, title, doc, source in sorted(found)
    ]
    names = [
        plain_edge(EdgeKind.NAMES, make_id("entity", title), doc, doc=doc, source="titles")
        for doc, title in sorted(titles.items())
        if title in said
    ]
    return (*mentions, *names)


class WithEdges:
    """A graph reader that also knows some edges of its own."""

    def __init__(self, graph: GraphReader, edges: Iterable[Edge]) -> None:
        self._graph = graph
        self._leaving: dict[str, list[Edge]] = {}
        self._entering: dict[str, list[Edge]] = {}
        for edge in sorted(edges, key=lambda edge: edge.id):
            self._leaving.setdefault(edge.src, []).append(edge)
            self._entering.setdefault(edge.dst, []).append(edge)

    def edges_from(
        self, ids: Collection[str], *, kinds: Collection[EdgeKind] | None = None
    ) -> tuple[Edge, ...]:
        """Edges leaving *ids*, in the order of the port."""
        found = (*self._graph.edges_from(ids, kinds=kinds), *_of(self._leaving, ids, kinds))
        return tuple(sorted(found, key=lambda edge: (edge.src, edge.kind, edge.dst, edge.id)))

    def edges_to(
        self, ids: Collection[str], *, kinds: Collection[EdgeKind] | None = None
    ) -> tuple[Edge, ...]:
        """Edges entering *ids*, in the order of the port."""
        found = (*self._graph.edges_to(ids, kinds=kinds), *_of(self._entering, ids, kinds))
        return tuple(sorted(found, key=lambda edge: (edge.dst, edge.kind, edge.src, edge.id)))

    def __getattr__(self, name: str) -> object:
        return getattr(self._graph, name)


def _of(
    edges: Mapping[str, list[Edge]], ids: Collection[str], kinds: Collection[EdgeKind] | None
) -> list[Edge]:
    found = (edge for one in sorted(set(ids)) for edge in edges.get(one, ()))
    return [edge for edge in found if kinds is None or edge.kind in kinds]


def with_mentions(chunks: ChunkReader, graph: GraphReader) -> GraphReader:
    """Give *graph*, and where it holds no names, a reader that adds those of the titles."""
    if any(edge.kind is EdgeKind.NAMES for edge in graph.scan_edges()):
        return graph
    return WithEdges(graph, title_edges(chunks.scan()))  # type: ignore[return-value]
