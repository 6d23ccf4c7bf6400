"""Answers of language models in the ledger, over SQLite files and a real PostgreSQL."""

from indexes.stores.ledger.ledger import Ledger
from tests.fakes.ledger_rows import ODD_NAMES


def test_answers_come_back_and_the_first_stays(ledger: Ledger) -> None:
    for number, text in enumerate(ODD_NAMES):
        ledger.answers.put(f"key {number}", text)
        ledger.answers.put(f"key {number}", "another")
    assert [ledger.answers.get(f"key {number}") for number in range(len(ODD_NAMES))] == list(ODD_NAMES)
    assert ledger.answers.get("unknown") is None
