"""Columns of one version of a table held in memory, for readers asked often and for small tables.

A search of the driver then gives row ids alone, and what they are, which edges leave a node, or how near the
chunks of a document are, is looked up here. Answers are those of the table, whether it is held or not.
"""

import ctypes
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from lancedb.table import Table

from indexes.ports import Vector
from indexes.stores.lance.rows import vectors_in
from indexes.stores.lance.scan import ROW_ID
from indexes.stores.lance.tables import store_errors
from schemas.records import Record

_NODE_BYTES, _EDGE_BYTES = 600, 220
"""What a node and an edge take here; measured on 240,000 and 880,000 of 100,000 chunks."""
_KEYS, _ENDS = ("id", "doc"), ("src", "dst")
_VECTOR = "text_vector"
_NUMBER_BYTES, _ROW_ID_BYTES = 4, 8
_BATCH = 4096

Rows = npt.NDArray[np.int64]
RowIds = npt.NDArray[np.uint64]


class HeldRows:
    """Whole rows, found by `id` and by `doc`."""

    def __init__(self, found: pa.Table) -> None:
        self._found = found
        self._rows = {name: _Rows(found.column(name)) for name in _KEYS}

    def places(self, column: str, values: Collection[str]) -> Rows:
        """Return the places of the rows with one of *values* in a column, in no order."""
        return self._rows[column].of(values)

    def records(self, column: str, values: Collection[str]) -> list[Record]:
        """Return those rows."""
        records: list[Record] = self._found.take(self.places(column, values)).to_pylist()
        return records

    def keys(self, places: Rows) -> pa.Table:
        """Return the columns `id` and `doc` of some rows."""
        return self._found.select(_KEYS).take(places)


class HeldChunks(HeldRows):
    """Every chunk with its text vector, found by the driver's row id too."""

    def __init__(self, row_ids: RowIds, found: pa.Table, vectors: Vector) -> None:
        super().__init__(found)
        self._order = np.argsort(row_ids)
        self._row_ids = row_ids[self._order]
        self._vectors = vectors

    def named(self, row_ids: pa.ChunkedArray) -> pa.Table:
        """Return the columns `id` and `doc` of rows that a search found."""
        return self.keys(self._order[np.searchsorted(self._row_ids, row_ids.to_numpy())])

    def within(self, docs: Collection[str]) -> tuple[pa.Table, Vector]:
        """Return the columns `id` and `doc` of all chunks of some documents, and their text vectors."""
        places = self.places("doc", docs)
        return self.keys(places), self._vectors[places]


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

    def columns(self, end: str, ids: Collection[str], kinds: Collection[str] | None) -> dict[str, list[Any]]:
        """Return the columns of the edges of some kinds with one of *ids* at one end, `src` or `dst`."""
        rows = self._by_end[end].of(ids)
        if kinds is not None:
            names = self._kinds.dictionary.to_pylist()
            wanted = [number for number, name in enumerate(names) if name in kinds]
            rows = rows[np.isin(self._kinds.indices.to_numpy()[rows], wanted)]
        found = self._found.take(rows)
        # Decoded first: a list of what a dictionary contains is made one value at a time.
        return {name: _plain(found.column(name)).to_pylist() for name in found.column_names}


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
        names = _bytes(encoded.dictionary.to_pylist())
        self._order = np.argsort(names)
        self._names = names[self._order]

    def of(self, values: Collection[str]) -> Rows:
        """Return the rows that have one of *values*, in no order."""
        if not len(self._names):
            return np.zeros(0, np.int64)
        wanted = _bytes(sorted(set(values)))
        places = np.minimum(np.searchsorted(self._names, wanted), len(self._names) - 1)
        codes = self._order[places[self._names[places] == wanted]]
        parts: Sequence[Rows] = [self._rows[self._starts[code] : self._starts[code + 1]] for code in codes]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _bytes(names: Sequence[str]) -> npt.NDArray[np.bytes_]:
    # A byte behind each name: NumPy takes those that differ in a NUL at their end for equal.
    return np.array([name.encode() + b"." for name in names], dtype=np.bytes_)


def size_of_chunks(table: Table, columns: Sequence[str], dim: int) -> int:
    """Estimate the bytes that `hold_chunks` takes, by the first rows and a tenth more: texts differ."""
    with store_errors(table.name):
        rows = table.count_rows()
        sample = table.search().select(list(columns)).limit(_BATCH).to_arrow()
    of_row = _NUMBER_BYTES * dim + _ROW_ID_BYTES + sample.nbytes / max(1, len(sample))
    return int(1.1 * rows * of_row)


def size_of_graph(nodes: Table, edges: Table) -> int:
    """Estimate the bytes that `hold_graph` takes."""
    with store_errors(edges.name):
        return int(nodes.count_rows() * _NODE_BYTES + edges.count_rows() * _EDGE_BYTES)


def hold_chunks(table: Table, columns: Sequence[str], dim: int, *, most_bytes: int) -> HeldChunks | None:
    """Read what `HeldChunks` needs, unless it would take more than *most_bytes*."""
    parts, vectors, row_ids, left = [], [], [], most_bytes
    with store_errors(table.name):
        if table.count_rows() * _NUMBER_BYTES * dim > most_bytes:  # known without reading anything
            return None
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
    held = HeldChunks(np.concatenate(row_ids), rows, np.concatenate(vectors))
    del parts, vectors, row_ids
    _give_back()
    return held


def hold_graph(
    nodes: Table, edges: Table, *, node_columns: Sequence[str], edge_columns: Sequence[str], most_bytes: int
) -> tuple[HeldRows, HeldEdges] | None:
    """Read all nodes and edges, unless they would take more than *most_bytes*."""
    if size_of_graph(nodes, edges) > most_bytes:
        return None
    with store_errors(edges.name):
        found = nodes.search().select(list(node_columns)).to_arrow().combine_chunks()
        held = HeldRows(found), HeldEdges(edges.search().select(list(edge_columns)).to_arrow())
    _give_back()
    return held


def _give_back() -> None:
    """Return what reading took and freed back to the system; glibc would keep it, as much as is held again.

    Source: malloc_trim(3). Elsewhere nothing happens.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
