"""Searches that cut ties by id, whatever order the store gives them in."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from indexes.ports import Vector
from schemas.evidence import Hit

DECIMALS = 6
"""Digits of a score: the driver's float32 sums differ below that with the order of their terms."""

_SLACK = 16
_ORDER = [("score", "descending"), ("id", "ascending")]


def best(fetch: Callable[[int], pa.Table], top_k: int) -> tuple[Hit, ...]:
    """Return the best *top_k* hits, ordered (-score, id).

    `fetch(limit)` gives the columns id, doc and score of the best *limit* rows, ties cut arbitrarily; so
    fetch on while the last one still ties with the cut.
    """
    if top_k <= 0:
        return ()
    limit = top_k + _SLACK
    while True:
        found = _rounded(fetch(limit)).sort_by(_ORDER)
        scores = found.column("score")
        if found.num_rows < limit or scores[-1].as_py() < scores[top_k - 1].as_py():
            return _hits(found.slice(0, top_k))
        limit *= 4


def ranked(found: pa.Table, top_k: int) -> tuple[Hit, ...]:
    """Return the best *top_k* of all rows there are, ordered (-score, id)."""
    return _hits(_rounded(found).sort_by(_ORDER).slice(0, max(0, top_k)))


def cosines(vectors: Vector, vector: Vector) -> npt.NDArray[np.float64]:
    """Return the cosine of each row with a vector; in float64, so that no order of terms shows in a score."""
    rows, query = vectors.astype(np.float64), vector.astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(query)
    similarity: npt.NDArray[np.float64] = (rows @ query) / lengths
    return similarity


def _rounded(found: pa.Table) -> pa.Table:
    # Arrow orders strings by their bytes in UTF-8, which is Python's order by code point.
    score = pc.round(found.column("score").cast(pa.float64()), DECIMALS)
    return pa.table({"id": found.column("id"), "doc": found.column("doc"), "score": score})


def _hits(found: pa.Table) -> tuple[Hit, ...]:
    ids, docs, scores = (found.column(name).to_pylist() for name in ("id", "doc", "score"))
    return tuple(map(Hit._make, zip(ids, docs, [round(score, DECIMALS) for score in scores], strict=True)))
