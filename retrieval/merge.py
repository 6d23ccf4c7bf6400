"""One list of what vectors found and what the graph holds around a document named by id."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from retrieval.bundle.build import cite
from retrieval.question.query import TOKEN_BUDGET_MAX, TOP_K_MAX
from retrieval.retriever import GRAPH, RetrievalResult, Retriever
from schemas.edges import FRONT_MATTER_KINDS
from schemas.evidence import Evidence, Origin, Query

GRAPH_BOOST = 0.1


def walk_merged(
    retriever: Retriever, query: Query, *, boost: float = GRAPH_BOOST, only_named: bool = False
) -> RetrievalResult:
    """Answer a query; one that names documents by id shows their neighbours by typed edges in any case.

    Without an id, or without a graph, this is `Retriever.walk`.

    Args: only_named: of what vectors found, keep the passages of the named documents alone, graph or none.
    """
    walk = retriever.walk(query)
    bundle = walk.bundle
    named = frozenset(bundle.diagnostics["named_documents"])
    if only_named and not named:
        return replace(walk, bundle=replace(bundle, evidence=(), citations=(), summaries=()))
    joined = bool(named) and query.use_graph and GRAPH not in bundle.degraded
    if not joined and not only_named:
        return walk
    wide = replace(query, top_k=TOP_K_MAX, token_budget=TOKEN_BUDGET_MAX)
    plain = retriever.retrieve(replace(wide if only_named else query, use_graph=False)).evidence
    found = [one for one in plain if one.doc in named] if only_named else plain
    neighbours = order_neighbours(retriever.retrieve(wide).evidence, named) if joined else ()
    merged = merge_by_id(found, neighbours, boost=boost, top_k=query.top_k)
    evidence = tuple(replace(one, S=f"S{number}") for number, one in enumerate(merged, start=1))
    return replace(walk, bundle=replace(bundle, evidence=evidence, citations=tuple(map(cite, evidence))))


def order_neighbours(evidence: Collection[Evidence], named: Collection[str]) -> tuple[Evidence, ...]:
    """Return the best passage of each document that a typed edge joins to a named one, by edge kind, id."""
    best: dict[str, Evidence] = {}
    for one in evidence:
        if len(one.path) == 1 and one.path[0].kind in FRONT_MATTER_KINDS and one.doc not in named:
            best.setdefault(one.doc, one)
    return tuple(sorted(best.values(), key=lambda one: (one.path[0].kind, one.doc)))


def merge_by_id(
    found: Sequence[Evidence], neighbours: Sequence[Evidence], *, boost: float, top_k: int
) -> tuple[Evidence, ...]:
    """Keep the order of *found*, in which only neighbours rise, by *boost*; the other neighbours follow.

    A neighbour passes those right above it that score less: the order is not of scores alone.

    A neighbour that both have is there once, as `both`, at its best passage in *found*; further ones of it
    stay what vectors found. Neighbours that nothing else found have up to half of the places.
    """
    by_doc = {one.doc: one for one in neighbours}
    lifted: list[Evidence] = []
    shown: set[str] = set()
    for one in found[:top_k]:
        neighbour = by_doc.get(one.doc) if one.doc not in shown else None
        shown.add(one.doc)
        if neighbour is None:
            lifted.append(one)
            continue
        score = round(one.score + boost, 6)
        both = replace(one, source=Origin.BOTH, score=score, path=neighbour.path, role=neighbour.role)
        at = len(lifted)
        while at and lifted[at - 1].score < score:
            at -= 1
        lifted.insert(at, both)
    reserved = min(len(neighbours), top_k // 2)
    first = {one.doc for one in lifted[: top_k - reserved]}
    follow = [
        replace(one, source=Origin.BOTH if one.doc in shown else Origin.GRAPH)
        for one in neighbours
        if one.doc not in first
    ][:reserved]
    apart = {one.doc for one in follow}
    return (*[one for one in lifted if one.doc not in apart][: top_k - len(follow)], *follow)
