"""What a table contains after a change, by the rows that changed: those are read before and after it."""

from collections.abc import Collection, Iterator, Mapping

from lancedb.table import Table

from indexes.ports import StoreState
from indexes.row_changes import StoredRow, Told, check_numbers, state_after
from indexes.stores.lance.filters import one_of
from indexes.stores.lance.scan import COUNTED, NARROW_PAGE, pages, read, stored_rows
from indexes.stores.lance.tables import store_errors


def state_after_change(table: Table, base: Table, *, before: StoreState, told: Told) -> StoreState:
    """Read what *told* names of the staged *table* and of *base*, which contains *before*; count all rows.

    Raises: DamageFound: rows are not there as they were told, or others came or went.
    """
    came = list(_rows(table, told))
    state = state_after(
        before,
        told,
        gone=_gone(table, base, before=before, told=told),
        came=came,
        subject=table.name,
        version=table.version,
    )
    check_numbers(state, _numbers(table, state.counts), subject=table.name)
    return state


def _gone(table: Table, base: Table, *, before: StoreState, told: Told) -> list[StoredRow]:
    """The rows of the base that changed; it is not asked where the numbers say that every row is new."""
    written = sum(sha256 is not None for sha256 in told.values())
    with store_errors(table.name):
        new = int(table.count_rows()) - before.total
    return [] if new == written else list(_rows(base, told))


def _rows(table: Table, ids: Collection[str]) -> Iterator[StoredRow]:
    for page in pages(ids, size=NARROW_PAGE):
        yield from stored_rows(read(table, one_of("id", page), COUNTED))


def _numbers(table: Table, kinds: Collection[str]) -> Mapping[str, int]:
    """Rows per kind of those expected, and those of any other kind together."""
    with store_errors(table.name):
        found = {kind: int(table.count_rows(one_of("kind", [kind]))) for kind in kinds}
        others = int(table.count_rows()) - sum(found.values())
    return found | ({"other": others} if others else {})
