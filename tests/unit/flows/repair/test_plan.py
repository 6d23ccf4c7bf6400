"""What a repair decides to do, by what was found."""

from collections.abc import Sequence

import pytest

from flows.repair.plan import RepairAction, RepairStep, ledger_is_lost, plan_repair, worth_trying
from flows.run.find_damage import DRAWN, FETCHED, NO_NODE, PARSED, UNKNOWN_DOCUMENT, IndexPart
from indexes.publish.files import Damage


@pytest.mark.parametrize(
    ("part", "damage", "action"),
    [
        (IndexPart.MANIFEST, ("index.json", "is damaged"), RepairAction.POINTERS),
        (IndexPart.FILES, ("authority/3.arrow", "is missing"), RepairAction.AUTHORITY),
        (IndexPart.FILES, ("lance/edges.lance/data/1.lance", "is missing"), RepairAction.TABLES),
        (IndexPart.FILES, ("/index/generations/3.json", "cannot be read"), RepairAction.POINTERS),
        (IndexPart.DATABASES, ("ledger", "malformed"), RepairAction.LEDGER),
        (IndexPart.DATABASES, ("vectors.sqlite", "3 vectors do not match"), RepairAction.VECTORS),
        (IndexPart.ENCODER, ("encoder/encoder.onnx", "is missing or damaged"), RepairAction.ENCODER),
        (IndexPart.LEDGER, ("ledger", "does not know generation 3"), RepairAction.LEDGER),
        (IndexPart.LEDGER, ("https://a.example/", UNKNOWN_DOCUMENT), RepairAction.DOCUMENTS),
        (IndexPart.LINKS, ("links/ab12", "is missing or damaged"), RepairAction.LINKS),
        (IndexPart.STORES, ("nodes", "digest is a, the generation says b"), RepairAction.ROWS),
        (IndexPart.ROWS, ("chunk:1", "chunk has no node in the graph"), RepairAction.ROWS),
        (IndexPart.DOCUMENTS, ("https://a.example/", NO_NODE), RepairAction.ROWS),
        (IndexPart.DOCUMENTS, ("https://a.example/", f"{PARSED} is missing"), RepairAction.FRAGMENTS),
        (IndexPart.DOCUMENTS, ("https://a.example/", f"{FETCHED} is missing"), RepairAction.REFUSED),
        (IndexPart.DOCUMENTS, ("https://a.example/", DRAWN), RepairAction.REFUSED),
        (IndexPart.VIEW, ("graph", "its store does not show people generation 3"), RepairAction.VIEW),
    ],
)
def test_each_kind_of_damage_has_its_action(part: IndexPart, damage: Damage, action: RepairAction) -> None:
    assert plan_repair({part: (damage,)}, more={}, rows=False) == (
        RepairStep(action=action, damage=(damage,)),
    )


def test_nothing_damaged_is_nothing_to_do() -> None:
    assert plan_repair({}, more={}, rows=False) == ()


def test_steps_come_in_the_order_in_which_each_can_be_done() -> None:
    found = {
        IndexPart.STORES: (("nodes", "counts"),),
        IndexPart.DATABASES: (("vectors.sqlite", "bad"),),
        IndexPart.LEDGER: (("ledger", "does not know generation 3"),),
    }
    steps = plan_repair(found, more={RepairAction.SIMILAR: (("similar/ab", "is missing"),)}, rows=False)
    assert [step.action for step in steps] == [
        RepairAction.LEDGER,
        RepairAction.VECTORS,
        RepairAction.SIMILAR,
        RepairAction.ROWS,
    ]


def test_new_tables_hold_the_rows_that_differ() -> None:
    found = {IndexPart.FILES: (("lance/a", "is missing"),), IndexPart.STORES: (("nodes", "counts"),)}
    (step,) = plan_repair(found, more={}, rows=True)
    assert step.action is RepairAction.TABLES
    assert step.damage == (("lance/a", "is missing"), ("nodes", "counts"))


def test_rows_are_compared_on_request_though_no_damage_was_seen() -> None:
    assert plan_repair({}, more={}, rows=True) == (RepairStep(action=RepairAction.ROWS, damage=()),)


def step(action: RepairAction, *damage: Damage) -> RepairStep:
    return RepairStep(action=action, damage=damage)


LEDGER = step(RepairAction.LEDGER, ("ledger", "does not know generation 3"))
VECTORS = step(RepairAction.VECTORS, ("vectors.sqlite", "bad"))
ROWS = step(RepairAction.ROWS, ("nodes", "counts"))
REFUSED = step(RepairAction.REFUSED, ("https://a.example/", FETCHED))


@pytest.mark.parametrize(
    ("steps", "tried", "now"),
    [
        ((LEDGER, VECTORS, ROWS), (), (LEDGER,)),
        ((VECTORS, ROWS), (LEDGER,), (VECTORS, ROWS)),
        ((ROWS,), (ROWS,), (step(RepairAction.TABLES, *ROWS.damage),)),
        ((ROWS,), (ROWS, step(RepairAction.TABLES, *ROWS.damage)), ()),
        ((REFUSED,), (), ()),
        ((VECTORS,), (VECTORS,), ()),
    ],
)
def test_what_was_tried_in_vain_is_not_tried_again(
    steps: Sequence[RepairStep], tried: Sequence[RepairStep], now: Sequence[RepairStep]
) -> None:
    assert worth_trying(steps, tried) == now


def test_a_ledger_and_tables_lost_together_cannot_tell_each_other() -> None:
    tables = step(RepairAction.TABLES, ("lance/a", "is missing"))
    assert ledger_is_lost((LEDGER, tables))
    assert not ledger_is_lost((LEDGER, VECTORS))
    assert not ledger_is_lost((tables,))
