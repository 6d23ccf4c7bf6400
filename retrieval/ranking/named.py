"""What typed edges join to documents that a question names by id: it is among the evidence in any case."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from retrieval.ranking.score import Scored
from schemas.edges import FRONT_MATTER_KINDS
from schemas.evidence import Origin, PathStep


def order_neighbours(ordered: Iterable[Scored], named: Collection[str]) -> tuple[Scored, ...]:
    """Return the best passage of each document that a typed edge joins to a named one, by edge kind, id."""
    best: dict[str, Scored] = {}
    for one in ordered:
        if len(one.path) == 1 and _joins(one.path[0], named) and one.chunk.doc not in named:
            best.setdefault(one.chunk.doc, one)
    return tuple(sorted(best.values(), key=lambda one: (one.path[0].kind, one.chunk.doc)))


def _joins(step: PathStep, named: Collection[str]) -> bool:
    return step.kind in FRONT_MATTER_KINDS and (step.src in named or step.dst in named)


def merge_by_id(
    found: Sequence[Scored], neighbours: Sequence[Scored], *, boost: float, top_k: int
) -> tuple[Scored, ...]:
    """Keep the order of *found*, in which only neighbours rise, by *boost*; the other neighbours follow.

    A neighbour passes those right above it that score less, and that no reranker has placed: the order is not
    of scores alone. One that is in *found* is there once as a neighbour, at its best passage; further ones of
    it stay what was found. Neighbours without a place there have up to half of the places.
    """
    by_doc = {one.chunk.doc: one for one in neighbours}
    lifted: list[Scored] = []
    best: dict[str, Scored] = {}
    for one in found[:top_k]:
        neighbour = by_doc.get(one.chunk.doc) if one.chunk.doc not in best else None
        if neighbour is None:
            lifted.append(one)
            continue
        source = one.source if one.source is Origin.GRAPH else Origin.BOTH
        joined = replace(one, source=source, lift=boost, path=neighbour.path, role=neighbour.role)
        best[one.chunk.doc] = joined
        at = len(lifted)
        while at and lifted[at - 1].score < joined.score and lifted[at - 1].place == joined.place:
            at -= 1
        lifted.insert(at, joined)
    kept, follow = lifted, list(neighbours)
    for reserved in range(top_k // 2 + 1):
        kept = lifted[: top_k - reserved]
        there = {one.chunk.doc for one in kept}
        follow = [one for one in neighbours if one.chunk.doc not in there][: top_k // 2]
        if len(follow) <= reserved:
            break
    return (*kept, *(best.get(one.chunk.doc) or replace(one, source=Origin.GRAPH) for one in follow))
