"""Parts of a document that are Pages of their own > edges from the document to them and between them."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ingest.parse.graph import DocumentGraph
from ingest.parse.page_facts import PagePart
from schemas.edges import Edge, EdgeKind
from schemas.fragment import Link
from schemas.ids import edge_id


def join_parts(graph: DocumentGraph, ids: Sequence[str], parts: Sequence[PagePart]) -> None:
    """Join a document to its parts, each part to the one that follows it, and to those that it links to.

    Args: ids: node ids of the *parts*, in the same order.
    """
    for id_ in ids:
        graph.join(EdgeKind.CONTAINS, graph.doc, id_)
    for id_, following in pairwise(ids):
        graph.join(EdgeKind.NEXT, id_, following)
    graph.edges.extend(_links(graph, ids, parts))


def _links(graph: DocumentGraph, ids: Sequence[str], parts: Sequence[PagePart]) -> Iterator[Edge]:
    """Links from part to part, as those between pages; of equal ones there is one, with a count."""
    starts = sorted((part.prefix, id_) for id_, part in zip(ids, parts, strict=True) if part.prefix)
    for src, part in zip(ids, parts, strict=True):
        counts: Counter[tuple[str, Link]] = Counter()
        for link in part.links:
            dst = _part_with(starts, link.fragment or "") if link.target == graph.request.uri else None
            if dst is not None and dst != src:
                counts[
                    dst, Link(target="", text=link.text, position=link.position, fragment=link.fragment)
                ] += link.count
        for (dst, link), count in counts.items():
            yield _edge(graph, src, dst, link, count)


def _part_with(starts: Sequence[tuple[str, str]], fragment: str) -> str | None:
    at = bisect_right(starts, fragment, key=lambda start: start[0])
    prefix, id_ = starts[at - 1] if at else ("", None)
    return id_ if fragment.startswith(prefix) else None


def _edge(graph: DocumentGraph, src: str, dst: str, link: Link, count: int) -> Edge:
    kind = EdgeKind.LINKS_TO
    return Edge(
        id=edge_id(kind, src, dst, link.text, link.position, link.fragment or ""),
        kind=kind,
        src=src,
        dst=dst,
        doc=graph.doc,
        source=graph.request.source,
        anchor_text=link.text,
        position=link.position,
        fragment=link.fragment,
        count=count,
    )
