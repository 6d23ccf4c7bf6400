"""Chunks that say the same."""

from collections.abc import Collection, Mapping

from indexes.ports import GraphReader
from retrieval.graph.directions import NEAR_DUPLICATE
from retrieval.ranking.score import Scored
from schemas.edges import EdgeKind

COPIES_AMONG = 60
"""Best candidates among which copies are looked for."""


def find_copies(graph: GraphReader, ranked: Collection[Scored]) -> Mapping[str, frozenset[str]]:
    """Return for each of the best candidates those that say nearly the same (`similar_to` from .95)."""
    ids = sorted(one.chunk.id for one in tuple(ranked)[:COPIES_AMONG])
    edges = graph.edges_from(ids, kinds={EdgeKind.SIMILAR_TO}) if ids else ()
    copies: dict[str, set[str]] = {}
    for edge in edges:
        if (edge.score or 0.0) >= NEAR_DUPLICATE:
            copies.setdefault(edge.src, set()).add(edge.dst)
            copies.setdefault(edge.dst, set()).add(edge.src)
    return {chunk: frozenset(copies[chunk]) for chunk in sorted(copies)}


def join_copies(*found: Mapping[str, frozenset[str]]) -> Mapping[str, frozenset[str]]:
    """Return for each chunk the copies that any of *found* has of it."""
    chunks = sorted({chunk for one in found for chunk in one})
    return {chunk: frozenset().union(*(one.get(chunk, frozenset()) for one in found)) for chunk in chunks}
