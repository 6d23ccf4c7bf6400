"""What is known of the nearest chunks, as bytes and back: `load_similarity(dump_similarity(s)) == s`."""

import io
import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any
from zipfile import BadZipFile

import numpy as np

from ingest.link.chunk_columns import ChunkColumns
from ingest.link.nearest import NONE, NearestChunks, no_neighbours
from ingest.link.similarity import Rule, Similarity
from schemas.errors import DamageFound
from schemas.records import from_record, to_record

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
