"""What is to be merged: batches read once, each id once, and errors that come out as they went in."""

from collections.abc import Iterable, Iterator
from itertools import chain

import pyarrow as pa

from schemas.errors import SchemaMismatch


class MergeStream:
    """Batches for one or several commits, and the hash of every row seen, by id.

    One batch is held at a time, but for the few that `few` gives.
    """

    def __init__(self, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> None:
        self.error: Exception | None = None
        self.seen: dict[str, str] = {}
        self._schema = schema
        self._batches = _each_id_once(batches, self.seen)
        self._next = next(self._batches, None)

    @property
    def is_empty(self) -> bool:
        """Whether there is no row left."""
        return self._next is None

    def few(self, most: int) -> tuple[pa.RecordBatch, ...] | None:
        """Return all that is left, where that is at most so many rows; if there are more, none is taken."""
        taken, rows = list[pa.RecordBatch](), 0
        while self._next is not None and rows + self._next.num_rows <= most:
            taken.append(self._next)
            rows += self._next.num_rows
            self._advance()
        if self._next is None:
            return tuple(taken)
        self._batches = chain((*taken, self._next), self._batches)
        self._next = next(self._batches)
        return None

    def reader(self, *, max_rows: int | None = None) -> pa.RecordBatchReader:
        """Return what is left, or batches up to about *max_rows*, to the store."""
        return pa.RecordBatchReader.from_batches(self._schema, self._guarded(max_rows))

    def _guarded(self, max_rows: int | None) -> Iterator[pa.RecordBatch]:
        given = 0
        while self._next is not None and (max_rows is None or given < max_rows):
            given += self._next.num_rows
            yield self._next
            self._advance()

    def _advance(self) -> None:
        # Arrow's stream interface keeps an error's text and loses the error.
        try:
            self._next = next(self._batches, None)
        except Exception as error:
            self.error = error
            raise


def _each_id_once(batches: Iterable[pa.RecordBatch], seen: dict[str, str]) -> Iterator[pa.RecordBatch]:
    """Leave out repeated rows, known by what was *seen*: the store would keep two new rows of one id.

    Raises: SchemaMismatch: two different rows have one id.
    """
    for batch in batches:
        keys, hashes = batch.column("id").to_pylist(), batch.column("row_sha256").to_pylist()
        fresh = [_is_fresh(seen, key, sha) for key, sha in zip(keys, hashes, strict=True)]
        if any(fresh):
            yield batch if all(fresh) else batch.filter(pa.array(fresh))


def _is_fresh(seen: dict[str, str], key: str, sha: str) -> bool:
    known = seen.get(key)
    if known is not None and known != sha:
        raise SchemaMismatch("two different rows have this id", subject=key)
    seen[key] = sha
    return known is None
