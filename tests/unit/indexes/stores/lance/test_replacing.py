"""Small changes, by rows replaced where they stand, make the tables that merges make."""

import random
from pathlib import Path
from unittest.mock import patch

import lancedb
import numpy as np
import pyarrow as pa
import pytest

from indexes.stores.lance import staging
from indexes.stores.lance.staging import most_replaced, replace_rows
from indexes.stores.lance.store import LanceChunkStore
from indexes.stores.lance.table_upkeep import Address, open_by_engine
from indexes.stores.lance.tables import CHUNKS, table_address
from schemas.errors import StaleLease
from schemas.evidence import SearchField
from tests.fakes.varied_chunks import DIM, WORDS, Row, publish_rows, varied_row

ROUNDS = 12


def grow(folder: Path) -> LanceChunkStore:
    """Rows that change, go, and come back, and files that empty, over many generations; maintained once."""
    rng, picks = np.random.default_rng(3), random.Random(3)
    store = LanceChunkStore.create(folder, dim=DIM)
    held = {key: varied_row(rng, key) for key in range(300)}
    publish_rows(store, 1, list(held.values()))
    gone: dict[int, Row] = {}
    for number in range(2, ROUNDS + 2):
        leaving = {*picks.sample(sorted(held), 5), *(key for key in held if 1000 + number - 3 == key // 10)}
        back = {key: gone.pop(key) for key in sorted(gone)[:2]}
        fresh = {key: varied_row(rng, key) for key in range(10_000 + 10 * number, 10_008 + 10 * number)}
        edited = {key: varied_row(rng, key) for key in picks.sample(sorted(held), 9)}
        deleted = {key: held.pop(key) for key in sorted(leaving)}
        gone |= deleted
        upserts = {key: row for key, row in {**fresh, **edited, **back}.items() if key not in leaving}
        held |= upserts
        # The last one is upserted too, and stays.
        ids = (
            [row[0].id for row in deleted.values()]
            + ["never there", "it's"]
            + [next(iter(fresh.values()))[0].id]
        )
        publish_rows(store, number, list(upserts.values()), ids)
        if number == ROUNDS // 2:
            store.writer().maintain(number, fence=lambda: None)
    return store


def test_many_small_changes_leave_what_merges_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with patch.object(staging, "replace_rows", wraps=replace_rows) as replacing_rows:
        replaced = grow(tmp_path / "replaced").at(ROUNDS + 1)
    monkeypatch.setattr(staging, "most_replaced", lambda _rows: -1)
    merged = grow(tmp_path / "merged").at(ROUNDS + 1)

    assert replacing_rows.call_count == ROUNDS
    assert replaced.state().digest == merged.state().digest
    assert replaced.state().counts == merged.state().counts
    ids = sorted(replaced.row_hashes())
    assert replaced.row_hashes(ids[::7]) == merged.row_hashes(ids[::7])
    for start in range(0, 60, 3):
        question = " ".join(WORDS[start : start + 3])
        one, other = (
            {
                hit.chunk_id: round(hit.score, 4)
                for hit in store.search_text(SearchField.TEXT, question, top_k=999)
            }
            for store in (replaced, merged)
        )
        assert one == other != {}


def staged(folder: Path, rows: int) -> tuple[lancedb.table.Table, Address]:
    store = LanceChunkStore.create(folder, dim=DIM)
    rng = np.random.default_rng(1)
    publish_rows(store, 1, [varied_row(rng, key) for key in range(rows)])
    database = lancedb.connect(folder)
    return database.open_table(CHUNKS), table_address(database, CHUNKS)


def renamed(table: lancedb.table.Table, name: str) -> pa.RecordBatch:
    """A row of the table under another id."""
    (batch,) = table.search().limit(1).to_arrow().select(table.schema.names).to_batches()
    return batch.set_column(0, table.schema.field("id"), pa.array([name]))


def test_of_two_writers_that_add_the_same_row_the_second_is_stale(tmp_path: Path) -> None:
    first, address = staged(tmp_path, 5)
    second = lancedb.connect(tmp_path).open_table(CHUNKS)
    base, new = first.version, renamed(first, "new")

    replace_rows(first, address, batches=[new], ids=["new"])
    with pytest.raises(StaleLease, match="met another"):
        replace_rows(second, address, batches=[new], ids=["new"])

    second.checkout_latest()
    assert (second.version, second.count_rows("id = 'new'"), second.count_rows()) == (base + 1, 1, 6)


@pytest.mark.parametrize("by_merge", [True, False])
def test_a_writer_that_another_way_of_writing_came_before_is_stale(tmp_path: Path, by_merge: bool) -> None:
    first, address = staged(tmp_path, 5)
    second = lancedb.connect(tmp_path).open_table(CHUNKS)
    new = renamed(first, "new")
    if by_merge:
        second.merge_insert("id").use_index(False).when_not_matched_insert_all().execute(
            pa.Table.from_batches([new])
        )
    else:
        second.add(pa.Table.from_batches([new]))

    with pytest.raises(StaleLease, match="version"):
        replace_rows(first, address, batches=[new], ids=["new"])


@pytest.mark.parametrize("by", ["restoring", "compacting"])
def test_a_writer_whose_table_another_restored_or_compacted_is_stale(tmp_path: Path, by: str) -> None:
    first, address = staged(tmp_path, 3)
    for name in (
        "in a file of its own",
        "in another",
    ):  # what an index has is not joined with what it has not
        first.add(pa.Table.from_batches([renamed(first, name)]))
    other = lancedb.connect(tmp_path).open_table(CHUNKS)
    if by == "restoring":
        other.checkout(other.version)
        other.restore()
    else:
        open_by_engine(address).optimize.compact_files()
        assert len(open_by_engine(address).get_fragments()) == 2

    with pytest.raises(StaleLease):
        replace_rows(first, address, batches=[renamed(first, "new")], ids=["new", "in another"])

    assert lancedb.connect(tmp_path).open_table(CHUNKS).count_rows() == 5


def test_every_row_may_go_and_come_again(tmp_path: Path) -> None:
    table, address = staged(tmp_path, 5)
    rows = table.to_arrow()
    ids = rows.column("id").to_pylist()

    replace_rows(table, address, batches=rows.to_batches(), ids=ids)

    assert sorted(table.to_arrow().column("id").to_pylist()) == sorted(ids)
    assert table.to_arrow().sort_by("id").drop(["id"]).equals(rows.sort_by("id").drop(["id"]))


def test_few_are_some_hundreds_or_a_hundredth() -> None:
    assert [most_replaced(rows) for rows in (1, 20_000, 1_000_000)] == [staging.ALWAYS_FEW, 200, 10_000]
