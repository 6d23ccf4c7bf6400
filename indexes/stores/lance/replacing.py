"""A few rows of a table replaced at a price of their number, not the table's.

A merge reads all ids, since it may not use the index on them (docs/decisions/0007-merge-without-index.md).
pylance has the parts of one: rows are found through the index, marked as deleted where they stand, and the
new ones come in a file of their own, in one version.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from lancedb.table import Table

from indexes.stores.lance.engine import Address, open_by_engine
from indexes.stores.lance.filters import one_of
from indexes.stores.lance.scan import NARROW_PAGE, ROW_ID, pages
from schemas.errors import SchemaMismatch, StaleLease

if TYPE_CHECKING:
    import lance

LEAST_SHARE, ALWAYS_FEW = 100, 200
"""New rows: a hundredth of a table's is cheaper to replace than to merge, three are not (bench/RESULTS.md).
However many rows go, to mark them costs less than a merge does."""
_OFFSET_BITS = 32


def most_replaced(rows: int) -> int:
    """How many rows are few in a table of so many."""
    return max(ALWAYS_FEW, rows // LEAST_SHARE)


def replace_rows(
    table: Table, address: Address, *, batches: Sequence[pa.RecordBatch], ids: Collection[str]
) -> None:
    """Put *batches* in the place of all rows of *ids*, in one version on top of the *table*'s own.

    Raises: StaleLease: somebody else committed in between. Nothing is written where that touched a file that
    this changes or was a change by this function; else both are there, until the next `stage`.
    SchemaMismatch: the table has stable row ids.
    """
    import lance
    from lance.commit import CommitConflictError
    from lance.fragment import write_fragments

    base = int(table.version)
    opened = open_by_engine(address, version=base)
    if opened.has_stable_row_ids:
        raise SchemaMismatch("has stable row ids, which tell nobody where a row stands", subject=table.name)
    left = _without(opened, _places(table, ids))
    rows = pa.Table.from_batches(batches, schema=opened.schema) if batches else None
    version = opened.data_storage_version
    new = [] if rows is None else write_fragments(rows, opened, data_storage_version=version)
    change = lance.LanceOperation.Update(
        removed_fragment_ids=[number for number, rest in left.items() if rest is None],
        updated_fragments=[rest for rest in left.values() if rest is not None],
        new_fragments=new,
    )
    try:
        written = lance.LanceDataset.commit(opened, change, read_version=base, max_retries=0).version
    except CommitConflictError as error:
        raise StaleLease("its commit met another; run again", subject=table.name) from error
    if written != base + 1:
        raise StaleLease(f"version {written} on top of {base}; run again", subject=table.name)
    table.checkout_latest()


def _places(table: Table, ids: Collection[str]) -> Mapping[int, list[int]]:
    """Where rows of these ids stand: their offsets by file."""
    places = defaultdict[int, list[int]](list)
    for page in pages(ids, size=NARROW_PAGE):
        found = table.search().where(one_of("id", page)).select(["id"]).with_row_id(True).to_arrow()
        for address in found.column(ROW_ID).to_pylist():
            places[address >> _OFFSET_BITS].append(address & ((1 << _OFFSET_BITS) - 1))
    return places


def _without(
    opened: "lance.LanceDataset", places: Mapping[int, list[int]]
) -> "dict[int, lance.FragmentMetadata | None]":
    """Files without the rows at some places, None where none is left.

    The first file is always among them: two writers that only add would not meet, and both add a row.
    """
    files = {file.fragment_id: file for file in opened.get_fragments()}
    left = {min(files): files[min(files)].metadata} if files else {}
    return left | {number: files[number].delete_rows(offsets) for number, offsets in places.items()}
