"""Columns of one version of a table held in memory, for readers that live long and are asked often.

A search of the driver then gives row ids alone, and what they are, which edges leave a node, or how near the
passages of a document are, is looked up here. Answers are those of the table, whether it is held or not.
"""

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from lancedb.table import Table

from indexes.ports import Vector
from indexes.stores.lance.rows import vectors_in
from indexes.stores.lance.tables import store_errors
from schemas.records import Record

ROW_ID = "_rowid"
_EDGE_BYTES = 250
"""What an edge takes here at most; measured on 880,000 of them."""
_ENDS = ("src", "dst")
_VECTOR = "text_vector"
_BATCH = 4096

Rows = npt.NDArray[np.int64]
RowIds = npt.NDArray[np.uint64]


class HeldChunks:
    """Every chunk with its text vector."""

    def __init__(self, row_ids: RowIds, found: pa.Table, vectors: Vector) -> None:
        self._order = np.argsort(row_ids)
        self._row_ids = row_ids[self._order]
        self._found = found
        self._keys = found.select(["id", "doc"])
        self._vectors = vectors
        self._rows = {name: _Rows(found.column(name)) for name in ("id", "doc")}

    def named(self, row_ids: pa.ChunkedArray) -> pa.Table:
        """Give the columns `id` and `doc` of rows that a search found."""
        return self._keys.take(self._order[np.searchsorted(self._row_ids, row_ids.to_numpy())])

    def records(self, column: str, values: Collection[str]) -> list[Record]:
        """Give the rows with one of *values* in a column, `id` or `doc`, in no order."""
        records: list[Record] = self._found.take(self._rows[column].of(values)).to_pylist()
        return records

    def within(self, docs: Collection[str]) -> tuple[pa.Table, Vector]:
        """Give the columns `id` and `doc` of all chunks of some documents, and their text vectors."""
        rows = self._rows["doc"].of(docs)
        return self._keys.take(rows), self._vectors[rows]


class HeldEdges:
    """Every edge, found by either end."""

    def __init__(self, found: pa.Table) -> None:
        names = [name for name in found.column_names if name not in {"id", "score"}]
        for name in names:
            at = found.column_names.index(name)
            found = found.set_column(at, name, found.column(name).dictionary_encode())
        self._found = found.combine_chunks()
        self.ends = frozenset(_ENDS)
        self._by_end = {name: _Rows(found.column(name)) for name in _ENDS}
        self._kinds = found.column("kind").combine_chunks()

    def records(self, end: str, ids: Collection[str], kinds: Collection[str] | None) -> list[Record]:
        """Give the edges with one of *ids* at one end, `src` or `dst`, and of some kinds, in no order."""
        rows = self._by_end[end].of(ids)
        if kinds is not None:
            names = self._kinds.dictionary.to_pylist()
            wanted = [number for number, name in enumerate(names) if name in kinds]
            rows = rows[np.isin(self._kinds.indices.to_numpy()[rows], wanted)]
        found = self._found.take(rows)
        # Decoded first: a list of what a dictionary holds is made one value at a time.
        columns = [_plain(found.column(name)).to_pylist() for name in found.column_names]
        return [dict(zip(found.column_names, row, strict=True)) for row in zip(*columns, strict=True)]


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


class _Rows:
    """Which rows have each value of a column."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        encoded = column.combine_chunks()
        if not pa.types.is_dictionary(encoded.type):
            encoded = encoded.dictionary_encode()
        codes = encoded.indices.to_numpy()
        self._rows: Rows = np.argsort(codes, kind="stable")
        self._starts = np.searchsorted(codes[self._rows], np.arange(len(encoded.dictionary) + 1))
        names = encoded.dictionary.to_numpy(zero_copy_only=False).astype(np.bytes_)
        self._order = np.argsort(names)
        self._names = names[self._order]

    def of(self, values: Collection[str]) -> Rows:
        """Give the rows that have one of *values*, in no order."""
        if not len(self._names):
            return np.zeros(0, np.int64)
        wanted = np.array([value.encode() for value in sorted(set(values))], dtype=np.bytes_)
        places = np.minimum(np.searchsorted(self._names, wanted), len(self._names) - 1)
        codes = self._order[places[self._names[places] == wanted]]
        parts: Sequence[Rows] = [self._rows[self._starts[code] : self._starts[code + 1]] for code in codes]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def hold_chunks(table: Table, columns: Sequence[str], dim: int, *, most_bytes: int) -> HeldChunks | None:
    """Read what `HeldChunks` needs, unless it would take more than *most_bytes*."""
    parts, vectors, row_ids, left = [], [], [], most_bytes
    with store_errors(table.name):
        found = table.search().select([*columns, _VECTOR]).with_row_id(True)
        for batch in found.to_batches(_BATCH):
            left -= batch.nbytes
            if left < 0:
                return None
            row_ids.append(batch.column(ROW_ID).to_numpy())
            vectors.append(vectors_in(batch.column(_VECTOR), dim))
            parts.append(batch.select(columns))
    if not parts:
        return None
    rows = pa.Table.from_batches(parts).combine_chunks()
    return HeldChunks(np.concatenate(row_ids), rows, np.concatenate(vectors))


def hold_edges(table: Table, columns: Sequence[str], *, most_bytes: int) -> HeldEdges | None:
    """Read what `HeldEdges` needs, unless it would take more than *most_bytes*."""
    with store_errors(table.name):
        if table.count_rows() * _EDGE_BYTES > most_bytes:
            return None
        return HeldEdges(table.search().select(list(columns)).to_arrow())
