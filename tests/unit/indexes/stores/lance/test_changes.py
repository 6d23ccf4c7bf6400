"""A generation that changes little is digested without reading the whole table."""

from pathlib import Path

import pytest
from lancedb.table import Table

from indexes.ports import StoreState
from indexes.stores.lance import scan
from indexes.stores.lance.staging import StagedTable
from indexes.stores.lance.store import LanceChunkStore
from schemas.errors import DamageFound
from tests.fakes.chunk_generations import Row, row
from tests.fakes.graph_samples import DIM


def publish(
    store: LanceChunkStore, generation: int, rows: list[Row], gone: list[str], before: StoreState | None
) -> StoreState:
    writer = store.writer()
    writer.stage(generation, base=generation - 1)
    writer.apply(iter(rows), gone)
    return writer.finish(generation, before=before)


@pytest.fixture
def store(tmp_path: Path) -> LanceChunkStore:
    return LanceChunkStore.create(tmp_path, dim=DIM)


ROWS = [row(f"text {number}") for number in range(60)]


def test_only_changed_rows_are_read(store: LanceChunkStore, monkeypatch: pytest.MonkeyPatch) -> None:
    first = publish(store, 1, ROWS, [], None)

    def refuse(_table: Table) -> StoreState:
        raise AssertionError("the whole table is read")

    with monkeypatch.context() as patched:
        patched.setattr(scan, "state", refuse)
        state = publish(store, 2, [row("new"), row("newer")], [ROWS[3][0].id], first)
    assert store.at(2).state() == state
    assert state.total == 61


def test_a_store_that_loses_a_row_while_it_writes_is_noticed(
    store: LanceChunkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row is gone from the commit itself, so that no other writer can be told from it."""
    first = publish(store, 1, ROWS, [], None)
    lost = row("lost on the way")
    commit = StagedTable._write

    def forgetful(self: StagedTable, *arguments: object) -> object:
        commit(self, *arguments)  # type: ignore[arg-type]
        return self.table.delete(f"id = '{lost[0].id}'")

    monkeypatch.setattr(StagedTable, "_write", forgetful)
    monkeypatch.setattr(StagedTable, "_commit", _commit_anyhow)
    with pytest.raises(DamageFound, match="1 rows are not as they were written"):
        publish(store, 2, [lost, row("kept")], [], first)


def _commit_anyhow(self: StagedTable, stream: object, deletes: object, _base: int) -> int:
    self._write(stream, deletes)  # type: ignore[arg-type]
    self._version = int(self.table.version)
    return self._version
