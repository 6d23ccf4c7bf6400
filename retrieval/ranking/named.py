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
    it stay what was found. Neighbours that nothing else found have up to half of the places.
    """
    by_doc = {one.chunk.doc: one for one in neighbours}
    lifted: list[Scored] = []
    shown: set[str] = set()
    for one in found[:top_k]:
        neighbour = by_doc.get(one.chunk.doc) if one.chunk.doc not in shown else None
        shown.add(one.chunk.doc)
        if neighbour is None:
            lifted.append(one)
            continue
        source = one.source if one.source is Origin.GRAPH else Origin.BOTH
        joined = replace(one, source=source, lift=boost, path=neighbour.path, role=neighbour.role)
        at = len(lifted)
        while at and lifted[at - 1].score < joined.score and lifted[at - 1].place == joined.place:
            at -= 1
        lifted.insert(at, joined)
    reserved = min(len(neighbours), top_k // 2)
    first = {one.chunk.doc for one in lifted[: top_k - reserved]}
    follow = [
        replace(one, source=Origin.BOTH if one.chunk.doc in shown else Origin.GRAPH)
        for one in neighbours
        if one.chunk.doc not in first
    ][:reserved]
    apart = {one.chunk.doc for one in follow}
    return (*[one for one in lifted if one.chunk.doc not in apart][: top_k - len(follow)], *follow)
