"""What a repair decides to do, by what was found."""

from collections.abc import Sequence

import pytest

from flows.run.damage import IndexPart, RepairStep, ledger_is_lost, plan_repair, worth_trying
from indexes.publish.files import Damage


def test_nothing_damaged_is_nothing_to_do() -> None:
    assert plan_repair({}, more={}, rows=False) == ()


def test_steps_come_in_the_order_in_which_each_can_be_done() -> None:
    found = {
        IndexPart.ROWS: (("nodes", "counts"),),
        IndexPart.VECTORS: (("vectors.sqlite", "bad"),),
        IndexPart.LEDGER: (("ledger", "does not know generation 3"),),
    }
    steps = plan_repair(found, more={IndexPart.SIMILAR: (("similar/ab", "is missing"),)}, rows=False)
    assert [step.part for step in steps] == [
        IndexPart.LEDGER,
        IndexPart.VECTORS,
        IndexPart.SIMILAR,
        IndexPart.ROWS,
    ]


def test_new_tables_hold_the_rows_that_differ() -> None:
    found = {IndexPart.TABLES: (("lance/a", "is missing"),), IndexPart.ROWS: (("nodes", "counts"),)}
    (step,) = plan_repair(found, more={}, rows=True)
    assert step.part is IndexPart.TABLES
    assert step.damage == (("lance/a", "is missing"), ("nodes", "counts"))


def test_rows_are_compared_on_request_though_no_damage_was_seen() -> None:
    assert plan_repair({}, more={}, rows=True) == (RepairStep(part=IndexPart.ROWS, damage=()),)


def step(part: IndexPart, *damage: Damage) -> RepairStep:
    return RepairStep(part=part, damage=damage)


LEDGER = step(IndexPart.LEDGER, ("ledger", "does not know generation 3"))
VECTORS = step(IndexPart.VECTORS, ("vectors.sqlite", "bad"))
ROWS = step(IndexPart.ROWS, ("nodes", "counts"))
REFUSED = step(IndexPart.BYTES, ("https://a.example/", "what was fetched is missing"))


@pytest.mark.parametrize(
    ("steps", "tried", "now"),
    [
        ((LEDGER, VECTORS, ROWS), (), (LEDGER,)),
        ((VECTORS, ROWS), (LEDGER,), (VECTORS, ROWS)),
        ((ROWS,), (ROWS,), (step(IndexPart.TABLES, *ROWS.damage),)),
        ((ROWS,), (ROWS, step(IndexPart.TABLES, *ROWS.damage)), ()),
        ((REFUSED,), (), ()),
        ((VECTORS,), (VECTORS,), ()),
    ],
)
def test_what_was_tried_in_vain_is_not_tried_again(
    steps: Sequence[RepairStep], tried: Sequence[RepairStep], now: Sequence[RepairStep]
) -> None:
    assert worth_trying(steps, tried) == now


def test_a_ledger_and_tables_lost_together_cannot_tell_each_other() -> None:
    tables = step(IndexPart.TABLES, ("lance/a", "is missing"))
    assert ledger_is_lost((LEDGER, tables))
    assert not ledger_is_lost((LEDGER, VECTORS))
    assert not ledger_is_lost((tables,))
