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
_EDGE_BYTES, _CHUNK_BYTES = 250, 100
"""What a row takes here besides its vector; measured on 880,000 edges of 100,000 chunks."""
_ENDS = ("src", "dst")
_KEYS = pa.schema([pa.field("id", pa.string()), pa.field("doc", pa.string())])
_BATCH = 4096

Rows = npt.NDArray[np.int64]
RowIds = npt.NDArray[np.uint64]


class HeldChunks:
    """The id, document and text vector of every chunk."""

    def __init__(self, row_ids: RowIds, keys: pa.Table, vectors: Vector) -> None:
        self._order = np.argsort(row_ids)
        self._row_ids = row_ids[self._order]
        self._keys = keys
        self._vectors = vectors
        self._of_doc = _Rows(keys.column("doc"))

    def named(self, row_ids: pa.ChunkedArray) -> pa.Table:
        """Give the columns `id` and `doc` of rows that a search found."""
        return self._keys.take(self._order[np.searchsorted(self._row_ids, row_ids.to_numpy())])

    def within(self, docs: Collection[str]) -> tuple[pa.Table, Vector]:
        """Give the columns `id` and `doc` of all chunks of some documents, and their text vectors."""
        rows = self._of_doc.of(docs)
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
        records: list[Record] = self._found.take(rows).to_pylist()
        return records


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


def hold_chunks(table: Table, dim: int, *, most_bytes: int) -> HeldChunks | None:
    """Read what `HeldChunks` needs, unless it would take more than *most_bytes*."""
    with store_errors(table.name):
        number = table.count_rows()
        if number * (4 * dim + _CHUNK_BYTES) > most_bytes:
            return None
        row_ids, vectors = np.zeros(number, np.uint64), np.zeros((number, dim), np.float32)
        keys, read = [_KEYS.empty_table()], 0
        found = table.search().select([*_KEYS.names, "text_vector"]).with_row_id(True)
        for batch in found.to_batches(_BATCH):
            part = slice(read, read := read + batch.num_rows)
            row_ids[part] = batch.column(ROW_ID).to_numpy()
            vectors[part] = vectors_in(batch.column("text_vector"), dim)
            keys.append(pa.table(batch.select(_KEYS.names), schema=_KEYS))
    return HeldChunks(row_ids, pa.concat_tables(keys).combine_chunks(), vectors)


def hold_edges(table: Table, columns: Sequence[str], *, most_bytes: int) -> HeldEdges | None:
    """Read what `HeldEdges` needs, unless it would take more than *most_bytes*."""
    with store_errors(table.name):
        if table.count_rows() * _EDGE_BYTES > most_bytes:
            return None
        return HeldEdges(table.search().select(list(columns)).to_arrow())
