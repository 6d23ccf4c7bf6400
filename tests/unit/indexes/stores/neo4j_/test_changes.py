"""How rows that nobody was told of are noticed: by the server's totals where these are an index's own."""

from collections.abc import Callable
from typing import Any, cast

import pytest

from indexes.lattice_hash import LatticeHash
from indexes.ports import StoreState
from indexes.stores.neo4j_.changes import StagedChanges
from indexes.stores.neo4j_.schema import NODE_ROWS
from indexes.stores.neo4j_.session import Connection
from schemas.errors import DamageFound


class Counting:
    """A database of nodes alone that says how many rows it has, and remembers what it was asked."""

    def __init__(self, *, indexes: int, total: int, ended: int, live: int) -> None:
        self._indexes, self._total, self._ended, self._live = indexes, total, ended, live
        self.counted_all = False

    def read(self, work: Callable[["Counting"], Any]) -> Any:
        return work(self)

    def run(self, statement: str, **_parameters: Any) -> list[dict[str, Any]]:
        if "SitegraphIndex" in statement:
            return [{"number": self._indexes}]
        if "WITH count(v)" in statement:
            return [{"number": self._total}]
        if "v.valid_to < $open" in statement:
            return [{"number": 0, "which": True, "rows": self._ended}]
        if "v.valid_from <= $g" in statement:
            self.counted_all = True
            return [{"number": 0, "which": True, "rows": self._live}]
        return []

    def nodes(self) -> StoreState:
        before = StoreState(counts={"Page": 10}, rows=LatticeHash())
        return StagedChanges(connection=cast("Connection", self), ix="one", generation=2).after(
            before, {}, NODE_ROWS
        )


def test_of_an_index_that_is_alone_only_rows_that_ended_are_counted() -> None:
    server = Counting(indexes=1, total=13, ended=3, live=10)
    assert server.nodes().total == 10
    assert not server.counted_all


@pytest.mark.parametrize("total", [12, 14])
def test_rows_that_came_or_went_behind_the_ledger_are_noticed_by_the_total(total: int) -> None:
    with pytest.raises(DamageFound, match="without the ledger"):
        Counting(indexes=1, total=total, ended=3, live=total - 3).nodes()


def test_rows_that_an_index_unknown_to_the_database_left_there_are_no_damage() -> None:
    server = Counting(indexes=1, total=20, ended=3, live=10)
    assert server.nodes().total == 10
    assert server.counted_all


def test_beside_another_index_rows_are_counted_one_by_one() -> None:
    server = Counting(indexes=2, total=13, ended=3, live=9)
    with pytest.raises(DamageFound, match="without the ledger"):
        server.nodes()
