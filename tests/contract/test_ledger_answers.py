"""Answers of language models in the ledger, over SQLite files and a real PostgreSQL."""

from indexes.stores.ledger.ledger import Ledger
from tests.fakes.ledger_rows import ODD_NAME


def test_answers_come_back_and_the_first_stays(ledger: Ledger) -> None:
    ledger.answers.put("key", ODD_NAME)
    ledger.answers.put("key", "another")
    assert ledger.answers.get("key") == ODD_NAME
    assert ledger.answers.get("unknown") is None
