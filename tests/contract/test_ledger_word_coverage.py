"""What is remembered of the words of documents, over SQLite files and a real PostgreSQL."""

from indexes.stores.ledger.ledger import Ledger
from schemas.documents import DocumentState
from schemas.fragment import CoverageCounts, WordCoverage
from tests.fakes.ledger_rows import make_known

LOSING = WordCoverage(seen=100, kept=90, lost=8, dropped=(("hidden", 2),), invented=1)
WHOLE = WordCoverage(seen=100, kept=100, lost=0)


def test_the_accounts_of_what_is_read_now_are_counted_by_source(ledger: Ledger) -> None:
    rows = [make_known(name, state=DocumentState.FETCHED, fragment_sha=name) for name in ("a", "b", "old")]
    gone = make_known("gone", state=DocumentState.GONE, fragment_sha="gone")
    ledger.documents.save([*rows, gone])
    assert ledger.coverage.counts()[gone.source] == CoverageCounts(unknown=3)

    ledger.coverage.save({"a": LOSING, "b": LOSING, "gone": LOSING, "old": None})
    ledger.coverage.save({"b": WHOLE})
    counted = CoverageCounts(documents=2, unknown=1, seen=200, kept=190, lost=8, invented=1, notable=1)
    assert ledger.coverage.counts() == {gone.source: counted}


def test_what_nothing_needs_any_more_is_forgotten(ledger: Ledger) -> None:
    row = make_known("a", state=DocumentState.FETCHED, fragment_sha="1")
    ledger.documents.save([row])
    ledger.coverage.save({"1": WHOLE, "2": WHOLE})
    assert ledger.retention.drop_facts() == 1
    assert ledger.coverage.counts()[row.source].documents == 1
