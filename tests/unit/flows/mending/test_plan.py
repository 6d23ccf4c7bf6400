"""What a repair decides to do, by what was found."""

from collections.abc import Sequence

import pytest

from flows.mending.plan import Action, Step, ledger_is_lost, plan_repair, worth_trying
from flows.run.find_damage import DRAWN, FETCHED, NO_NODE, PARSED, UNKNOWN_DOCUMENT, Part
from indexes.publish.files import Damage


@pytest.mark.parametrize(
    ("part", "damage", "action"),
    [
        (Part.MANIFEST, ("index.json", "is damaged"), Action.POINTERS),
        (Part.FILES, ("authority/3.arrow", "is missing"), Action.AUTHORITY),
        (Part.FILES, ("lance/edges.lance/data/1.lance", "is missing"), Action.TABLES),
        (Part.FILES, ("/index/generations/3.json", "cannot be read"), Action.POINTERS),
        (Part.DATABASES, ("ledger", "malformed"), Action.LEDGER),
        (Part.DATABASES, ("vectors.sqlite", "3 vectors do not match"), Action.VECTORS),
        (Part.ENCODER, ("encoder/encoder.onnx", "is missing or damaged"), Action.ENCODER),
        (Part.LEDGER, ("ledger", "does not know generation 3"), Action.LEDGER),
        (Part.LEDGER, ("https://a.example/", UNKNOWN_DOCUMENT), Action.DOCUMENTS),
        (Part.STORES, ("nodes", "digest is a, the generation says b"), Action.ROWS),
        (Part.ROWS, ("chunk:1", "chunk has no node in the graph"), Action.ROWS),
        (Part.DOCUMENTS, ("https://a.example/", NO_NODE), Action.ROWS),
        (Part.DOCUMENTS, ("https://a.example/", f"{PARSED} is missing"), Action.FRAGMENTS),
        (Part.DOCUMENTS, ("https://a.example/", f"{FETCHED} is missing"), Action.REFUSED),
        (Part.DOCUMENTS, ("https://a.example/", DRAWN), Action.REFUSED),
        (Part.VIEW, ("graph", "its store does not show people generation 3"), Action.VIEW),
    ],
)
def test_each_kind_of_damage_has_its_action(part: Part, damage: Damage, action: Action) -> None:
    assert plan_repair({part: (damage,)}, more={}, rows=False) == (Step(action=action, damage=(damage,)),)


def test_nothing_damaged_is_nothing_to_do() -> None:
    assert plan_repair({}, more={}, rows=False) == ()


def test_steps_come_in_the_order_in_which_each_can_be_done() -> None:
    found = {
        Part.STORES: (("nodes", "counts"),),
        Part.DATABASES: (("vectors.sqlite", "bad"),),
        Part.LEDGER: (("ledger", "does not know generation 3"),),
    }
    steps = plan_repair(found, more={Action.SIMILAR: (("similar/ab", "is missing"),)}, rows=False)
    assert [step.action for step in steps] == [Action.LEDGER, Action.VECTORS, Action.SIMILAR, Action.ROWS]


def test_new_tables_hold_the_rows_that_differ() -> None:
    found = {Part.FILES: (("lance/a", "is missing"),), Part.STORES: (("nodes", "counts"),)}
    (step,) = plan_repair(found, more={}, rows=True)
    assert step.action is Action.TABLES
    assert step.damage == (("lance/a", "is missing"), ("nodes", "counts"))


def test_rows_are_compared_on_request_though_no_damage_was_seen() -> None:
    assert plan_repair({}, more={}, rows=True) == (Step(action=Action.ROWS, damage=()),)


def step(action: Action, *damage: Damage) -> Step:
    return Step(action=action, damage=damage)


LEDGER = step(Action.LEDGER, ("ledger", "does not know generation 3"))
VECTORS = step(Action.VECTORS, ("vectors.sqlite", "bad"))
ROWS = step(Action.ROWS, ("nodes", "counts"))
REFUSED = step(Action.REFUSED, ("https://a.example/", FETCHED))


@pytest.mark.parametrize(
    ("steps", "tried", "now"),
    [
        ((LEDGER, VECTORS, ROWS), (), (LEDGER,)),
        ((VECTORS, ROWS), (LEDGER,), (VECTORS, ROWS)),
        ((ROWS,), (ROWS,), (step(Action.TABLES, *ROWS.damage),)),
        ((ROWS,), (ROWS, step(Action.TABLES, *ROWS.damage)), ()),
        ((REFUSED,), (), ()),
        ((VECTORS,), (VECTORS,), ()),
    ],
)
def test_what_was_tried_in_vain_is_not_tried_again(
    steps: Sequence[Step], tried: Sequence[Step], now: Sequence[Step]
) -> None:
    assert worth_trying(steps, tried) == now


def test_a_ledger_and_tables_lost_together_cannot_tell_each_other() -> None:
    tables = step(Action.TABLES, ("lance/a", "is missing"))
    assert ledger_is_lost((LEDGER, tables))
    assert not ledger_is_lost((LEDGER, VECTORS))
    assert not ledger_is_lost((tables,))
