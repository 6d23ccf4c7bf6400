"""`similar_to` edges: what changes in them when chunks come, change and go, and how that is kept as bytes."""

import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from itertools import islice
from typing import Any
from zipfile import BadZipFile

import numpy as np

from ingest.link.chunk_columns import ChunkColumns
from ingest.link.nearest import (
    NONE,
    SCALE,
    Ints,
    NearestChunks,
    all_others,
    no_neighbours,
    pack_neighbours,
    places_of,
    scores_of,
)
from ingest.link.similarity import Rule, Similarity, places_among
from schemas.edges import NEAR_DUPLICATE, Edge, EdgeKind
from schemas.errors import DamageFound
from schemas.ids import edge_id
from schemas.records import from_record, to_record

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
    before = similar_rows(base, np.concatenate([gone, stayed]))
    return similar_changes(before, similar_rows(similarity, changed))


def held_rows(edges: Iterable[Edge]) -> dict[str, Row]:
    """The edges that a store contains, by the chunk that they leave."""
    rows: dict[str, tuple[str, str, dict[str, int]]] = {}
    for edge in edges:
        _, _, near = rows.setdefault(edge.src, (edge.doc, edge.source, {}))
        near[edge.dst] = round((edge.score or 0.0) * SCALE)
    return dict(rows)


def similar_rows(similarity: Similarity, places: Ints) -> dict[str, Row]:
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


def similar_changes(before: Mapping[str, Row], after: Mapping[str, Row]) -> EdgeChanges:
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
    return np.where(there, np.where(to >= 0, pack_neighbours(scores_of(nearest), to), -1), NONE)


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


_RULE = "rule"

Columns = Mapping[str, Any]


def dump_similarity(similarity: Similarity) -> bytes:
    """Return equal bytes for equal content: an uncompressed NumPy archive, one array a column."""
    columns = {f.name: getattr(similarity.chunks, f.name) for f in fields(ChunkColumns)}
    file = io.BytesIO()
    rule = json.dumps(to_record(similarity.rule), sort_keys=True)
    np.savez(
        file,
        allow_pickle=False,
        **{_RULE: np.array(rule)},
        **columns,
        **_dump_neighbours(similarity.neighbours),
    )
    return file.getvalue()


def load_similarity(data: bytes) -> Similarity:
    """Read it back, as an earlier version wrote it too. Raises: DamageFound: it is of no known form."""
    try:
        return _load(data)
    except (KeyError, ValueError, OSError, EOFError, BadZipFile) as error:
        raise DamageFound("is not what is known of similar passages", subject="similar") from error


def _load(data: bytes) -> Similarity:
    with np.load(io.BytesIO(data), allow_pickle=False) as columns:
        chunks = ChunkColumns(**{f.name: columns[f.name] for f in fields(ChunkColumns)})
        return Similarity(
            rule=from_record(Rule, json.loads(str(columns[_RULE]))),
            chunks=chunks,
            neighbours=_load_neighbours(columns, len(chunks.ids)),
        )


def _dump_neighbours(neighbours: NearestChunks) -> Columns:
    """Those that there are: most chunks have few, and many none."""
    there = neighbours.known != NONE
    counts = there.sum(axis=1)
    with_some = np.flatnonzero(counts)
    with_floor = np.flatnonzero(neighbours.floors != NONE)
    return {
        "width": np.array(neighbours.width),
        "with_some": with_some,
        "counts": counts[with_some],
        "neighbours": neighbours.known[there],
        "with_floor": with_floor,
        "floors": neighbours.floors[with_floor],
    }


def _load_neighbours(columns: Columns, chunks: int) -> NearestChunks:
    if "known" in columns:  # an earlier version: a place for each that there could be
        return NearestChunks(known=columns["known"], floors=columns["floors"])
    found = no_neighbours(chunks, width=int(columns["width"]))
    with_some, counts = columns["with_some"], columns["counts"]
    there = np.arange(found.width) < counts[:, None]
    rows = np.full(there.shape, NONE, np.int64)
    rows[there] = columns["neighbours"]
    found.known[with_some] = rows
    found.floors[columns["with_floor"]] = columns["floors"]
    return found
