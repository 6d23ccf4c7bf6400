"""What a table contains after a change, and when what stands there is not what was told."""

from dataclasses import replace

import pytest

from indexes.digests import StoredRow, check_numbers, check_total, follows_change, state_after, state_of_rows
from indexes.ports import StoreState
from schemas.errors import DamageFound

A, B, C = (StoredRow(id_, kind, id_ * 4) for id_, kind in (("a", "Page"), ("b", "Page"), ("c", "Chunk")))
NEW_B = StoredRow("b", "Section", "beef")


def test_rows_that_go_come_and_change_give_what_reading_all_gives() -> None:
    told = {"a": None, "b": NEW_B.sha256, "c": C.sha256}
    found = state_after(state_of_rows([A, B]), told, gone=[A, B], came=[NEW_B, C], subject="nodes", version=7)
    assert found == replace(state_of_rows([C, NEW_B]), version=7)
    assert (found.counts, found.total) == ({"Chunk": 1, "Section": 1}, 2)


def test_a_row_that_stays_as_it_is_changes_nothing() -> None:
    before = state_of_rows([A, B])
    assert state_after(before, {"a": A.sha256}, gone=[A], came=[A], subject="nodes") == before


@pytest.mark.parametrize(
    "came",
    [[], [B], [B, NEW_B], [NEW_B, A], [NEW_B, StoredRow("b", "Page", "beef")]],
    ids=["missing", "as before", "twice", "outlived its deletion", "twice in two kinds"],
)
def test_a_store_that_did_not_do_as_told_is_noticed(came: list[StoredRow]) -> None:
    with pytest.raises(DamageFound, match="nodes"):
        state_after(
            state_of_rows([A, B]), {"a": None, "b": NEW_B.sha256}, gone=[A, B], came=came, subject="nodes"
        )


def test_a_base_with_one_id_in_two_rows_is_noticed() -> None:
    with pytest.raises(DamageFound, match="1 ids occur in two rows"):
        state_after(state_of_rows([A, B]), {"b": None}, gone=[B, NEW_B], came=[], subject="nodes")


@pytest.mark.parametrize("counted", [{}, {"Page": 1}, {"Page": 2, "other": 1}])
def test_other_rows_than_expected_are_noticed_by_their_numbers(counted: dict[str, int]) -> None:
    check_numbers(state_of_rows([A, B]), {"Page": 2, "Section": 0}, subject="nodes")
    check_total(state_of_rows([A, B]), 2, subject="nodes")
    with pytest.raises(DamageFound, match="without the ledger"):
        check_numbers(state_of_rows([A, B]), counted, subject="nodes")
    with pytest.raises(DamageFound, match="without the ledger"):
        check_total(state_of_rows([A, B]), sum(counted.values()), subject="nodes")


@pytest.mark.parametrize(("told", "follows"), [(0, True), (24, True), (25, False), (100, False)])
def test_a_table_is_read_whole_where_a_quarter_of_it_changed(told: int, follows: bool) -> None:
    before = StoreState(counts={"Page": 60, "Chunk": 40})
    assert follows_change(before, dict.fromkeys(map(str, range(told)))) is follows


def test_an_empty_table_is_read_whole() -> None:
    assert not follows_change(StoreState(), {})


def test_digests_tell_the_same_rows_of_other_kinds_apart() -> None:
    assert state_of_rows([A]).digest != state_of_rows([A._replace(kind="Section")]).digest
