"""When chunks get their words or vectors indexed anew: in another language, or once many are new."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping

import pyarrow.compute as pc
from lancedb.index import FTS
from lancedb.table import Table

from indexes.stores.lance import scan
from indexes.stores.lance.table_upkeep import Address, open_by_engine
from indexes.stores.lance.tables import PROSE, STEMS, full_text_of


def refresh_text_indexes(table: Table) -> None:
    """Bring the indexes over prose in line with the languages of the chunks; no commit where they are."""
    counts: Counter[str | None] = Counter()
    for batch in scan.batches(table, ["lang"]):
        for one in pc.value_counts(batch.column(0)).to_pylist():
            counts[one["values"]] += one["counts"]
    held = {index.columns[0]: index.index_details or {} for index in table.list_indices()}
    has_stems = STEMS in table.schema.names
    for column in (*PROSE, *([STEMS] if has_stems else [])):
        wanted = full_text_of(counts, of_stems=has_stems and column != "text")
        if not _is_as(held.get(column, {}), wanted):
            table.create_index(column, config=wanted, replace=True)


def _is_as(details: dict[str, object], wanted: FTS) -> bool:
    return all(details.get(name) == getattr(wanted, name) for name in ("base_tokenizer", "language", "stem"))


COLUMNS = ("text_vector", "heading_vector", "anchor_vectors")
"""Captions are few, and stay exact."""
_HELD_BY = {"anchor_vectors": "anchors != ''"}
"""Which rows have a vector in a column that not all have one in."""
ANCHORS_ROW_COUNTS = 4
"""A row has up to 8 link texts, each a vector of its own, so fewer rows make a search slow."""

MIN_ROWS = 20_000
"""An exact search takes 2 ms for each 1,000 rows."""

PROBES = 64
"""Partitions that a search looks into. Of 39,130 texts of real manuals it finds .996 of the best ten in 173
partitions and .978 in 743; with half as many probes .986 and .949 (bench/RESULTS.md)."""

SAMPLE_RATE, MAX_ITERATIONS = 64, 10
"""Vectors for each partition, and passes over them. In 197 partitions the driver's 256 and 50 take three
times the CPU time, and find as much: .995 of the best ten (bench/RESULTS.md)."""

BATCHES_HELD = 4
"""Batches of vectors that are sorted by partition at once. By default, and by lancedb, all of them are: over
110,000 vectors that takes 735 MiB, and so 560 (bench/RESULTS.md)."""

MOST_APPROXIMATE = 256
"""A search for more than so many could outgrow the partitions that it looks into, so it is exact."""

_MARK, _FORMER_MARK = "_by_the_root_of_", "_trained_on_"
"""What was trained under the former mark has a partition for 4,096 rows, as the driver would have it."""


def trained_on(names: Iterable[str]) -> dict[str, int]:
    """The number of rows each column's index was trained on, as the names of indexes tell it."""
    marked = (name.rpartition(_MARK) for name in names if _MARK in name)
    return {column: int(rows) for column, _, rows in marked}


def plan_training(held: Mapping[str, int], rows: Mapping[str, int]) -> tuple[frozenset[str], frozenset[str]]:
    """Which columns' indexes to drop, and which to train, at so many *rows* by column.

    Trained again once the table has doubled or halved; given up at half of what asks for one, so that a
    table about that size does not go to and fro.
    """
    stale = {
        column
        for column, trained in held.items()
        if not trained / 2 < rows[column] < trained * 2 or rows[column] < _least(column) / 2
    }
    enough = (column for column in COLUMNS if rows[column] >= _least(column))
    return frozenset(stale), frozenset(column for column in enough if column in stale or column not in held)


def _least(column: str) -> int:
    return MIN_ROWS // ANCHORS_ROW_COUNTS if column in _HELD_BY else MIN_ROWS


def refresh_vector_indexes(table: Table, address: Address) -> None:
    """Bring the indexes over vectors in line with the number of rows; no commit where they are."""
    rows = {column: table.count_rows(_HELD_BY.get(column)) for column in COLUMNS}
    names = [index.name for index in table.list_indices()]
    for name in names:
        if _FORMER_MARK in name:
            table.drop_index(name)
    held = trained_on(names)
    dropped, trained = plan_training(held, rows)
    for column in sorted(dropped):
        table.drop_index(f"{column}{_MARK}{held[column]}")
    for column in sorted(trained):
        name = f"{column}{_MARK}{rows[column]}"
        _train(table, address, column, name=name, partitions=partitions_of(column, rows[column]))


def _train(table: Table, address: Address, column: str, *, name: str, partitions: int) -> None:
    """Make an index. Flat: the vectors as they are, so that scores are those of an exact search."""
    open_by_engine(address).create_index(
        column,
        "IVF_FLAT",
        name=name,
        metric="cosine",
        num_partitions=partitions,
        sample_rate=SAMPLE_RATE,
        max_iters=MAX_ITERATIONS,
        shuffle_partition_batches=BATCHES_HELD,
        shuffle_partition_concurrency=1,
    )
    table.checkout_latest()


def partitions_of(column: str, rows: int) -> int:
    """About the square root of the vectors: a search compares centroids, then the rows of some partitions."""
    vectors = rows * ANCHORS_ROW_COUNTS if column in _HELD_BY else rows
    return max(1, round(math.sqrt(vectors)))
