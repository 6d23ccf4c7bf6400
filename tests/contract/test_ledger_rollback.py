"""Generations aborted and rolled back: as if they had not been, but for their numbers."""

from indexes.stores.ledger.ledger import Ledger
from tests.fakes.ledger_rows import (
    A1,
    A2,
    A3,
    A4,
    B1,
    B2,
    C1,
    C2,
    begin,
    drop,
    freeze,
    held,
    holding,
    publish,
    put,
    table,
)


def test_aborting_takes_everything_back(ledger: Ledger) -> None:
    publish(ledger, put(A1), put(B1), base=0, payloads=["p1"])
    revisions, outbox = table(ledger, "doc_rev"), table(ledger, "outbox")
    number = begin(ledger, base=1)
    freeze(ledger, number, [put(A2), drop(B1), put(C1)], payloads=["p2", "p3"])
    assert held(ledger, number) == holding(A2, C1)

    for _ in range(2):
        ledger.generations.abort(number)
        assert table(ledger, "doc_rev") == revisions
        assert table(ledger, "outbox") == outbox
        assert ledger.generations.payloads(number) == ()
        assert ledger.generations.unfinished() == ()


def test_a_number_is_not_used_again_after_an_abort(ledger: Ledger) -> None:
    first = begin(ledger, base=0)
    ledger.generations.abort(first)
    second = begin(ledger, base=0)
    freeze(ledger, second, [put(A1)])
    ledger.generations.abort(second)

    assert publish(ledger, put(A1), base=0) == 3


def test_after_a_rollback_the_next_generation_is_its_base_and_its_own_changes(ledger: Ledger) -> None:
    publish(ledger, put(A1), put(B1), base=0)
    publish(ledger, put(A2), base=1)
    publish(ledger, put(A3), drop(B1), put(C1), base=2)
    ledger.generations.roll_back(above=2)
    before = {generation: held(ledger, generation) for generation in (1, 2, 3)}

    unchanged = begin(ledger, base=2)
    freeze(ledger, unchanged, [])
    assert held(ledger, unchanged) == held(ledger, 2) == holding(A2, B1)
    ledger.generations.abort(unchanged)
    fifth = publish(ledger, put(B2), base=2)

    assert held(ledger, fifth) == holding(A2, B2)
    assert {generation: held(ledger, generation) for generation in (1, 2, 3)} == before
    assert before[3] == holding(A3, C1)


def test_what_was_rolled_back_may_come_again(ledger: Ledger) -> None:
    publish(ledger, put(A1), put(B1), base=0)
    publish(ledger, put(A2), drop(B1), base=1)
    ledger.generations.roll_back(above=1)
    publish(ledger, put(A2), drop(B1), base=1)

    assert [held(ledger, generation) for generation in (1, 2, 3)] == [
        holding(A1, B1),
        holding(A2),
        holding(A2),
    ]


def test_rollbacks_over_several_generations_and_one_after_the_other(ledger: Ledger) -> None:
    publish(ledger, put(A1), put(B1), base=0)
    publish(ledger, put(A2), base=1)
    publish(ledger, put(A3), drop(B1), base=2)
    ledger.generations.roll_back(above=1)
    publish(ledger, put(C1), base=1)
    ledger.generations.roll_back(above=1)
    publish(ledger, put(C2), base=1)
    publish(ledger, put(A4), base=5)

    assert [held(ledger, generation) for generation in range(1, 7)] == [
        holding(A1, B1),
        holding(A2, B1),
        holding(A3),
        holding(A1, B1, C1),
        holding(A1, B1, C2),
        holding(A4, B1, C2),
    ]


def test_aborting_after_a_rollback_takes_the_reopened_documents_back(ledger: Ledger) -> None:
    publish(ledger, put(A1), base=0)
    publish(ledger, put(A2), put(B1), base=1)
    ledger.generations.roll_back(above=1)
    revisions = table(ledger, "doc_rev")
    number = begin(ledger, base=1)
    freeze(ledger, number, [put(C1)])
    ledger.generations.abort(number)

    assert table(ledger, "doc_rev") == revisions


def test_all_but_aborted_generations_are_rolled_back(ledger: Ledger) -> None:
    publish(ledger, put(A1), base=0)
    ledger.generations.abort(begin(ledger, base=1))
    publish(ledger, put(A2), base=1)
    begin(ledger, base=3)
    ledger.generations.roll_back(above=1)

    states = [row.state.value for number in range(1, 5) if (row := ledger.generations.get(number))]
    assert states == ["published", "aborted", "rolled_back", "rolled_back"]
