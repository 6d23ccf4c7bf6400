"""Statements of a subgraph that a page may rest on, and that may contradict one."""

from collections.abc import Collection, Mapping

from retrieval.wiki.page import Fact
from retrieval.wiki.subgraph import chunk_of
from schemas.edges import Edge


def facts_of(edges: Collection[Edge], names: Mapping[str, str]) -> tuple[Fact, ...]:
    """Return what edges with a predicate state, those that a passage says, in the order of the edges.

    Args: names: what the nodes are called, by id.
    """
    return tuple(
        Fact(
            subject=names.get(edge.src, edge.src),
            predicate=edge.predicate,
            object=names.get(edge.dst, edge.dst),
            subject_id=edge.src,
            object_id=edge.dst,
            chunk=chunk,
        )
        for edge in edges
        if edge.predicate and (chunk := chunk_of(edge))
    )
