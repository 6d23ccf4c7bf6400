"""What is remembered of pages that seem to stand in for content, over SQLite files and a real PostgreSQL."""

from indexes.stores.ledger.ledger import Ledger
from schemas.documents import DocumentState, SoftError
from schemas.ids import page_id
from tests.fakes.ledger_rows import SITE, make_known

A = page_id(f"{SITE}/a")
NOTICE = SoftError(reason="a maintenance notice", sure=True)


def known(ledger: Ledger, version: str, *, state: DocumentState = DocumentState.FETCHED) -> str:
    """The version that was parsed last of a document; gives its address."""
    row = make_known("a", state=state, doc=A, fragment_sha=version)
    ledger.documents.save([row])
    return row.uri


def test_what_was_seen_of_the_version_parsed_last_is_found_by_address(ledger: Ledger) -> None:
    uri, source = known(ledger, "1"), make_known("a").source
    ledger.soft_errors.save({"1": NOTICE, "2": None})

    assert ledger.soft_errors.of_source(source) == {uri: NOTICE}
    assert ledger.soft_errors.of_source("another") == {}
    known(ledger, "2")
    assert ledger.soft_errors.of_source(source) == {}


def test_a_version_that_is_looked_at_again_is_what_it_seems_to_be_now(ledger: Ledger) -> None:
    uri, source = known(ledger, "1"), make_known("a").source
    ledger.soft_errors.save({"1": NOTICE})
    doubted = SoftError(reason="an error page", sure=False)

    ledger.soft_errors.save({"1": doubted})
    assert ledger.soft_errors.of_source(source) == {uri: doubted}
    ledger.soft_errors.save({"1": None})
    assert ledger.soft_errors.of_source(source) == {}


def test_what_nothing_needs_any_more_is_forgotten(ledger: Ledger) -> None:
    known(ledger, "1", state=DocumentState.GONE)
    ledger.soft_errors.save({"1": NOTICE})

    assert ledger.retention.drop_facts() == 1
    assert ledger.retention.drop_facts() == 0
