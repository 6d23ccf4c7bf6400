"""`similar_to` edges: what changes in them when passages come, change and go."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ingest.link.nearest import (
    NONE,
    SCALE,
    Corpus,
    Floats,
    Ints,
    Neighbours,
    join,
    moved,
    no_neighbours,
    pack,
    places_of,
    run_out,
    scores_of,
    search_again,
)
from ingest.link.passages import Passages, passages_of
from schemas.edges import NEAR_DUPLICATE, Edge, EdgeKind
from schemas.ids import edge_id

SPARE = 3
"""So many times the neighbours that become edges are kept, so that one lost is replaced without a search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """At most *count* edges from a passage, each of at least *least* ten-thousandths; one model's vectors."""

    count: int
    least: int
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Similarity:
    """All passages of a generation, and the nearest of each."""

    rule: Rule
    passages: Passages
    neighbours: Neighbours

    @property
    def nearest(self) -> Ints:
        """The neighbours that are edges, shape (n, count)."""
        return self.neighbours.known[:, : self.rule.count]

    @property
    def near_duplicates(self) -> int:
        """How many edges lead to a passage that says nearly the same."""
        return int((scores_of(self.nearest) >= round(NEAR_DUPLICATE * SCALE)).sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Passages of the next generation, and how many of them were compared with all others, and once more."""

    similarity: Similarity
    searched: int
    searched_again: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeChanges:
    """Edges to upsert and ids to delete, by the passage they leave, and how many more each source has."""

    upserts: tuple[Edge, ...]
    deletes: tuple[str, ...]
    growth: Mapping[str, int]


VectorsOf = Callable[[Passages], Floats]
"""The vectors of some passages, shape (n, dim); zeros for one that has none."""


def nothing_similar(rule: Rule) -> Similarity:
    """What is known of an index without passages."""
    return Similarity(
        rule=rule, passages=passages_of(()), neighbours=no_neighbours(0, width=SPARE * rule.count)
    )


def compare_passages(base: Similarity, passages: Passages, *, rule: Rule, vectors_of: VectorsOf) -> Compared:
    """Give the nearest of each passage, as comparing all with all would, from what is known at *base*.

    *vectors_of* is asked only where something has to be compared.
    """
    fresh, neighbours = _carry_over(base, passages, rule)
    searched_again = 0
    if len(fresh) or len(run_out(neighbours, wanted=rule.count)):
        vectors = _of_unit_length(vectors_of(passages))
        corpus = Corpus(vectors=vectors, sections=passages.sections)
        join(neighbours, corpus, fresh, least=rule.least)
        lost = run_out(neighbours, wanted=rule.count)
        search_again(neighbours, corpus, lost, least=rule.least)
        searched_again = len(lost)
    similarity = Similarity(rule=rule, passages=passages, neighbours=neighbours)
    return Compared(similarity=similarity, searched=len(fresh), searched_again=searched_again)


def _carry_over(base: Similarity, passages: Passages, rule: Rule) -> tuple[Ints, Neighbours]:
    """Places of the passages of which nothing is known, and what is known of the others."""
    neighbours = no_neighbours(len(passages.ids), width=SPARE * rule.count)
    if base.rule != rule:
        return np.arange(len(passages.ids)), neighbours
    place = _places(base.passages, passages)
    same = place >= 0
    for name in ("sections", "texts"):
        same[same] = getattr(base.passages, name)[same] == getattr(passages, name)[place[same]]
    bound = np.append(np.searchsorted(passages.ids, base.passages.ids), len(passages.ids))
    carried = moved(base.neighbours, place=np.where(same, place, -1), bound=bound)
    neighbours.known[place[same]] = carried.known[same]
    neighbours.floors[place[same]] = carried.floors[same]
    return np.setdiff1d(np.arange(len(passages.ids)), place[same]), neighbours


def _places(base: Passages, passages: Passages) -> Ints:
    """The place of each of *base* among *passages*, by id; -1 where it is not."""
    at = np.searchsorted(passages.ids, base.ids)
    at[at == len(passages.ids)] = 0
    found = passages.ids[at] == base.ids if len(passages.ids) else np.zeros(len(at), bool)
    return np.where(found, at, -1)


def _of_unit_length(vectors: Floats) -> Floats:
    """A passage without a vector is like no other."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    np.divide(vectors, lengths, out=vectors, where=lengths > 0)
    return vectors


Row = tuple[str, str, Mapping[str, int]]
"""Document and source of a passage, and scores in ten-thousandths by the passage that is near."""


def edge_changes(base: Similarity, similarity: Similarity) -> EdgeChanges:
    """Compare the edges of two generations."""
    gone, stayed, changed = _differing(base, similarity)
    before = rows_of(base, np.concatenate([gone, stayed]))
    return row_changes(before, rows_of(similarity, changed))


def held_rows(edges: Iterable[Edge]) -> dict[str, Row]:
    """The edges that a store holds, by the passage that they leave."""
    rows: dict[str, tuple[str, str, dict[str, int]]] = {}
    for edge in edges:
        _, _, near = rows.setdefault(edge.src, (edge.doc, edge.source, {}))
        near[edge.dst] = round((edge.score or 0.0) * SCALE)
    return dict(rows)


def rows_of(similarity: Similarity, places: Ints) -> dict[str, Row]:
    """The edges of some passages, by id."""
    passages = similarity.passages
    ids = passages.ids
    rows: dict[str, Row] = {}
    for place, nearest in zip(places.tolist(), similarity.nearest[places], strict=True):
        found = nearest[nearest != NONE]
        near = zip(ids[places_of(found)].tolist(), scores_of(found).tolist(), strict=True)
        doc, source = passages.docs[place].decode(), passages.sources[place].decode()
        rows[ids[place].decode()] = (doc, source, {dst.decode(): score for dst, score in near})
    return rows


def row_changes(before: Mapping[str, Row], after: Mapping[str, Row]) -> EdgeChanges:
    """Compare the edges of passages with what they should be; what is in neither stays."""
    upserts: list[Edge] = []
    deletes: list[str] = []
    growth: Counter[str] = Counter()
    for src in sorted({*before, *after}):
        _, old_source, old = before.get(src, ("", "", {}))
        doc, source, new = after.get(src, ("", "", {}))
        deletes += [edge_id(EdgeKind.SIMILAR_TO, src, dst) for dst in old if dst not in new]
        changed = [dst for dst in new if source != old_source or new[dst] != old.get(dst)]
        upserts += [_edge(src, dst, doc, source, new[dst]) for dst in changed]
        growth[old_source] -= len(old)
        growth[source] += len(new)
    return EdgeChanges(
        upserts=tuple(upserts),
        deletes=tuple(deletes),
        growth={source: number for source, number in sorted(growth.items()) if number},
    )


def _differing(base: Similarity, similarity: Similarity) -> tuple[Ints, Ints, Ints]:
    """Places of passages that went, and of those with other edges: as they were, and as they will be."""
    place = _places(base.passages, similarity.passages)
    old = _renumbered(base, place, similarity.rule.count)
    stays = np.flatnonzero(place >= 0)
    there = place[stays]
    differs = (old[stays] != similarity.nearest[there]).any(axis=1)
    differs |= base.passages.sources[stays] != similarity.passages.sources[there]
    new = np.setdiff1d(np.arange(len(similarity.passages.ids)), there)
    return np.flatnonzero(place < 0), stays[differs], np.sort(np.concatenate([there[differs], new]))


def _renumbered(base: Similarity, place: Ints, count: int) -> Ints:
    """The edges of *base* in new places, shape (n, count); -1 for what leads to a passage that went."""
    nearest = base.nearest
    there = nearest != NONE
    to = place[np.where(there, places_of(nearest), 0)] if len(place) else places_of(nearest)
    renumbered = np.where(there, np.where(to >= 0, pack(scores_of(nearest), to), -1), NONE)
    if base.rule.count == count:
        return renumbered
    return np.full((len(renumbered), count), -1, np.int64)


def _edge(src: str, dst: str, doc: str, source: str, score: int) -> Edge:
    kind = EdgeKind.SIMILAR_TO
    return Edge(
        id=edge_id(kind, src, dst),
        kind=kind,
        src=src,
        dst=dst,
        doc=doc,
        source=source,
        confidence=score / SCALE,
        score=score / SCALE,
    )
