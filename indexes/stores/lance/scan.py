"""Plain reads of a table at one version: rows by a column's values, rows in id order, hashes, state."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc
from lancedb.table import Table

from indexes.lattice_hash import LatticeHash
from indexes.ports import StoreState
from indexes.row_changes import StoredRow, refuse_repeated
from indexes.stores.lance.filters import between, one_of
from indexes.stores.lance.tables import store_errors
from schemas.records import Record

PAGE = 1000
"""Rows read, or ids asked for, at once: bounds memory and the length of a condition."""
NARROW_PAGE = 10_000
"""The same of rows without vectors or texts: a few hundred bytes each. So many are Python's at once."""
NARROW_RANGE = 50_000
"""Such rows read at once by a range of ids. They lie all over the table, so a range costs most of a pass."""
FEW = 3
"""Columns up to which rows are scanned: 449 of eight million edges took 35 CPU ms in 8 columns, taken 27."""
ROW_ID = "_rowid"
BATCH = 4096
"""Rows of a few columns read at once."""
RANGE = 131_072
"""Rows of ids and hashes held at once: 16 MB, several times that as values of Python."""
COUNTED = ("id", "kind", "row_sha256")
"""The columns of a `StoredRow`."""
SAMPLED = 256
"""Every so manieth id tells where to cut a table."""


def pages(values: Collection[str], *, size: int = PAGE) -> Iterator[list[str]]:
    """Cut the sorted distinct values into lists of at most *size*."""
    ordered = sorted(set(values))
    return (ordered[start : start + size] for start in range(0, len(ordered), size))


def read(table: Table, condition: str | None, columns: Sequence[str]) -> pa.Table:
    """Read all rows that meet a condition, in no order. A scan has no limit, unlike a search."""
    with store_errors(table.name):
        query = table.search().select(list(columns))
        return (query if condition is None else query.where(condition)).to_arrow()


def batches(table: Table, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Read all rows, a batch at a time, in the table's own order."""
    with store_errors(table.name):
        yield from table.search().select(list(columns)).to_batches(BATCH)


def tables_with(
    table: Table, column: str, values: Collection[str], columns: Sequence[str], condition: str | None = None
) -> Iterator[pa.Table]:
    """Read the rows whose *column* equals one of *values*, PAGE values at a time, each page in id order."""
    for page in pages(values):
        test = one_of(column, page)
        where = f"({test}) AND ({condition})" if condition else test
        found = _taken(table, where, column, columns) if len(columns) > FEW else read(table, where, columns)
        yield found.sort_by("id")


def _taken(table: Table, condition: str, tested: str, columns: Sequence[str]) -> pa.Table:
    """Find rows by one column, then take the others by place, which decodes less than a scan of all."""
    with store_errors(table.name):
        found = table.search().where(condition).select([tested]).with_row_id(True).to_arrow()
        return table.take_row_ids(found.column(ROW_ID).to_pylist()).select(list(columns)).to_arrow()


def rows_with(
    table: Table, column: str, values: Collection[str], columns: Sequence[str], condition: str | None = None
) -> Iterator[Record]:
    """Read rows as `tables_with` does, one by one."""
    for found in tables_with(table, column, values, columns, condition):
        yield from found.to_pylist()


def tables_in_id_order(
    table: Table, columns: Sequence[str], condition: str | None = None
) -> Iterator[pa.Table]:
    """Read rows in id order, PAGE at a time: only the ids are all held at once."""
    ids = read(table, condition, ["id"]).column("id").to_pylist()
    return tables_with(table, "id", ids, columns)


def rows_in_id_order(table: Table, columns: Sequence[str], condition: str | None = None) -> Iterator[Record]:
    """Read rows as `tables_in_id_order` does, one by one."""
    for found in tables_in_id_order(table, columns, condition):
        yield from found.to_pylist()


def narrow_rows_in_id_order(
    table: Table, columns: Sequence[str], condition: str | None = None
) -> Iterator[Record]:
    """Read rows in id order, NARROW_RANGE at a time, by ranges of ids: asking for each id takes longer."""
    ids = read(table, condition, ["id"]).column("id").sort()
    starts = [ids[place].as_py() for place in range(0, len(ids), NARROW_RANGE)]
    for low, high in pairwise((*starts, None)):
        test = between("id", low, high)
        found = read(table, f"({test}) AND ({condition})" if condition else test, columns)
        for batch in found.sort_by("id").to_batches(max_chunksize=NARROW_PAGE):
            yield from batch.to_pylist()


def hashes(table: Table, ids: Collection[str] | None = None) -> Mapping[str, str]:
    """`row_sha256` as stored, by id: of all rows, or of *ids*.

    Raises: DamageFound: an id stands in two rows.
    """
    columns = ["id", "row_sha256"]
    if ids is None:
        return _hashes(table.name, read(table, None, columns))
    some = (_hashes(table.name, found) for found in tables_with(table, "id", ids, columns))
    return {id_: sha256 for part in some for id_, sha256 in part.items()}


def stored_rows(found: pa.Table) -> Iterator[StoredRow]:
    """Give the rows of a table with the columns COUNTED."""
    return map(StoredRow, *(found.column(name).to_pylist() for name in COUNTED))


def state(table: Table) -> StoreState:
    """Count all rows per kind and hash them; the version is the one the handle is at.

    Ids and hashes stay in Arrow, and of a large table a range of ids is held at a time.
    Raises: DamageFound: an id stands in two rows.
    """
    counts, rows, version = Counter[str](), LatticeHash(), table.version
    for condition in _ranges(table):
        found = read(table, condition, COUNTED)
        ids = found.column("id")
        refuse_repeated(found.num_rows - pc.count_distinct(ids).as_py(), subject=table.name)
        for kind in pc.value_counts(found.column("kind")).to_pylist():
            counts[kind["values"]] += kind["counts"]
        rows = rows.plus(zip(ids.to_pylist(), found.column("row_sha256").to_pylist(), strict=True))
    return StoreState(counts=dict(sorted(counts.items())), rows=rows, version=version)


def _ranges(table: Table) -> Iterator[str | None]:
    """Conditions that divide the rows by id into parts of about RANGE, in id order; None for all at once."""
    if table.count_rows() <= RANGE:
        yield None
        return
    columns = (batch.column("id") for batch in batches(table, ["id"]))
    sample = sorted(id_ for ids in columns for id_ in ids[::SAMPLED].to_pylist())
    cuts = sample[RANGE // SAMPLED :: RANGE // SAMPLED]
    yield from (between("id", low, high) for low, high in zip([None, *cuts], [*cuts, None], strict=True))


def _hashes(name: str, found: pa.Table) -> dict[str, str]:
    by_id = dict(zip(found.column("id").to_pylist(), found.column("row_sha256").to_pylist(), strict=True))
    refuse_repeated(found.num_rows - len(by_id), subject=name)
    return by_id
