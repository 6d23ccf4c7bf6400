"""How the tables of an index directory are: rows that no search index contains, and files to be joined."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from lancedb.table import Table

from indexes.stores.lance.tables import connect, exists, has_tag, store_errors
from indexes.table_files import tag_of
from schemas.health import TableHealth


def table_health(directory: Path, tables: Collection[str], *, generation: int) -> Mapping[str, TableHealth]:
    """Describe the *tables* that are there, as *generation* reads them; nothing of them is written.

    Raises: StoreUnavailable: one cannot be read.
    """
    there = [name for name in tables if exists(directory, name) and has_tag(directory, name, generation)]
    database = connect(directory)
    found = {}
    for name in there:
        with store_errors(name):
            table = database.open_table(name)
            table.checkout(tag_of(generation))
            found[name] = _describe(table)
    return found


def _describe(table: Table) -> TableHealth:
    stats: Any = table.stats()  # a dictionary, whatever its annotation says
    fragments = stats["fragment_stats"]
    indexes = (table.index_stats(index.name) for index in table.list_indices())
    return TableHealth(
        rows=stats["num_rows"],
        unindexed_rows=max((index.num_unindexed_rows for index in indexes if index), default=0),
        fragments=fragments["num_fragments"],
        small_fragments=fragments["num_small_fragments"],
    )
