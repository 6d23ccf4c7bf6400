"""What every store refuses: filters that it does not know, and unsound vectors."""

import re
from collections.abc import Collection, Iterator

import numpy as np

from indexes.ports import ChunkVectors, Vector
from schemas.errors import FilterError, SchemaMismatch
from schemas.evidence import DATE_FIELDS, FILTER_FIELDS, Condition, Filter, LeftOut
from schemas.nodes import Chunk

LIST_FIELDS = frozenset({"tool_names"})
INTEGER_FIELDS = frozenset({"page_no"})
_WHOLE = re.compile(r"[0-9]{1,9}")
"""What fits into 32 bits; no column holds more."""


def check_filters(filters: Collection[Condition]) -> None:
    """Raise FilterError for a field that is not in FILTER_FIELDS, or a value its column cannot have."""
    for item in _each(filters):
        if item.field not in (*FILTER_FIELDS, *DATE_FIELDS):
            known = ", ".join((*FILTER_FIELDS, *DATE_FIELDS))
            raise FilterError(f"unknown filter field; known: {known}", subject=item.field)
        for value in item.values if item.field in DATE_FIELDS else ():
            interval_of(value)
        for value in item.values if item.field in INTEGER_FIELDS else ():
            if not _WHOLE.fullmatch(value):
                raise FilterError(f"not a whole number of nine digits at most: {value!r}", subject=item.field)


def _each(conditions: Collection[Condition]) -> Iterator[Filter]:
    for one in conditions:
        yield from (*one.where, *one.unless) if isinstance(one, LeftOut) else (one,)


def interval_of(value: str) -> tuple[str | None, str | None]:
    """Return the ends of a filter value `FROM/TO`, the second excluded, None for an open one.

    Columns contain times of one form in UTC, so that texts compare as times do.
    Raises: FilterError: no interval.
    """
    start, slash, end = value.partition("/")
    if not slash:
        raise FilterError(f"not an interval FROM/TO: {value!r}", subject="filter")
    return (None if start == ".." else start), (None if end == ".." else end)


def passes(chunk: Chunk, filters: Collection[Condition]) -> bool:
    """Whether a chunk keeps all *filters*, as a search in any store has it.

    Raises: FilterError: an interval that is none.
    """
    return all(
        _keeps(chunk, one) if isinstance(one, Filter) else not _leaves_out(chunk, one) for one in filters
    )


def _leaves_out(chunk: Chunk, item: LeftOut) -> bool:
    meant = all(_keeps(chunk, one) for one in item.where)
    return meant and not any(_keeps(chunk, one) for one in item.unless)


def _keeps(chunk: Chunk, item: Filter) -> bool:
    held = getattr(chunk, item.field)
    if item.field in INTEGER_FIELDS:
        return held in map(int, item.values)
    if item.field in DATE_FIELDS:
        return held is not None and any(_within(held, *interval_of(value)) for value in item.values)
    return bool(set(held if item.field in LIST_FIELDS else (held,)) & set(item.values))


def _within(held: str, start: str | None, end: str | None) -> bool:
    return (start is None or start <= held) and (end is None or held < end)


NORM_TOLERANCE = 1e-3
"""How far from 1 a length may be: rounding to float32 or fp16 stays below it, unnormalised vectors do not."""


def check_chunk_vectors(chunk_id: str, vectors: ChunkVectors, *, dim: int) -> None:
    """Raise SchemaMismatch unless all vectors are finite, of *dim* and of unit length.

    `heading` may be empty, of shape (0,), where a chunk stands under no heading; `anchors` and `captions`
    may have no rows, nor `tokens` where the index keeps none.
    """
    _check(chunk_id, "text", vectors.text, shape=(dim,))
    if vectors.heading.size:
        _check(chunk_id, "heading", vectors.heading, shape=(dim,))
    for name, several in (("anchors", vectors.anchors), ("captions", vectors.captions)):
        if several.size:
            _check(chunk_id, name, several, shape=(len(several), dim))
    if vectors.tokens.size:
        tokens = vectors.tokens.astype(np.float32)
        _check(chunk_id, "token", tokens, shape=(len(tokens), dim))


def _check(chunk_id: str, name: str, vector: Vector, *, shape: tuple[int, ...]) -> None:
    if vector.shape != shape:
        message = f"{name} vector has shape {vector.shape}, not {shape}; use the index's own encoder"
        raise SchemaMismatch(message, subject=chunk_id)
    # NaN compares as false, so this also refuses what is not finite.
    if not np.all(np.abs(np.linalg.norm(vector, axis=-1) - 1.0) <= NORM_TOLERANCE):
        raise SchemaMismatch(f"{name} vector is not finite or not of unit length", subject=chunk_id)
