"""`similar_to` edges: what changes in them when chunks come, change and go."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np

from ingest.link.nearest import NONE, SCALE, Ints, all_others, pack, places_of, scores_of
from ingest.link.similarity import Similarity, places_among
from schemas.edges import NEAR_DUPLICATE, Edge, EdgeKind
from schemas.ids import edge_id

SAYS_THE_SAME = "near duplicate"
"""The mark of an edge between chunks of which one is enough for a reader."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeChanges:
    """Edges to upsert and ids to delete, by the chunk they leave, and how many more each source has."""

    upserts: tuple[Edge, ...]
    deletes: tuple[str, ...]
    growth: Mapping[str, int]


Row = tuple[str, str, Mapping[str, int]]
"""Document and source of a chunk, and scores in ten-thousandths by the chunk that is near."""


def edge_changes(base: Similarity, similarity: Similarity) -> EdgeChanges:
    """Compare the edges of two generations."""
    gone, stayed, changed = _differing(base, similarity)
    before = rows_of(base, np.concatenate([gone, stayed]))
    return row_changes(before, rows_of(similarity, changed))


def held_rows(edges: Iterable[Edge]) -> dict[str, Row]:
    """The edges that a store contains, by the chunk that they leave."""
    rows: dict[str, tuple[str, str, dict[str, int]]] = {}
    for edge in edges:
        _, _, near = rows.setdefault(edge.src, (edge.doc, edge.source, {}))
        near[edge.dst] = round((edge.score or 0.0) * SCALE)
    return dict(rows)


def rows_of(similarity: Similarity, places: Ints) -> dict[str, Row]:
    """The edges of some chunks, by id."""
    chunks, nearest = similarity.chunks, similarity.nearest[places]
    there = nearest != NONE
    found = nearest[there]
    ends = iter(zip(chunks.ids[places_of(found)].tolist(), scores_of(found).tolist(), strict=True))
    columns = (chunks.ids[places], chunks.docs[places], chunks.sources[places], there.sum(axis=1))
    starts = zip(*(column.tolist() for column in columns), strict=True)
    return {
        src.decode(): (doc.decode(), source.decode(), {dst.decode(): n for dst, n in islice(ends, number)})
        for src, doc, source, number in starts
    }


def row_changes(before: Mapping[str, Row], after: Mapping[str, Row]) -> EdgeChanges:
    """Compare the edges of chunks with what they should be; what is in neither stays."""
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
    """Places of chunks that went, and of those with other edges: as they were, and as they will be."""
    place, _ = places_among(base.chunks, similarity.chunks)
    stays = np.flatnonzero(place >= 0)
    there = place[stays]
    differs = base.chunks.sources[stays] != similarity.chunks.sources[there]
    some = np.flatnonzero(base.neighbours.has_some[stays] | similarity.neighbours.has_some[there])
    old = _renumbered(base, stays[some], place, similarity.rule.count)
    differs[some] |= (old != similarity.nearest[there[some]]).any(axis=1)
    new = all_others(len(similarity.chunks.ids), there)
    return np.flatnonzero(place < 0), stays[differs], np.sort(np.concatenate([there[differs], new]))


def _renumbered(base: Similarity, rows: Ints, place: Ints, count: int) -> Ints:
    """The edges of some *rows* in new places, shape (n, count); -1 for what leads to a chunk that went."""
    if base.rule.count != count:
        return np.full((len(rows), count), -1, np.int64)
    nearest = base.nearest[rows]
    there, to = nearest != NONE, place[places_of(nearest)]
    return np.where(there, np.where(to >= 0, pack(scores_of(nearest), to), -1), NONE)


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
        reason=SAYS_THE_SAME if score >= round(NEAR_DUPLICATE * SCALE) else None,
    )
