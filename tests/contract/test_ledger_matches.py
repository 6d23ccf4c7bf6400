"""Which selectors matched which documents, over SQLite files and a real PostgreSQL."""

from indexes.stores.ledger.ledger import Ledger
from schemas.documents import DocumentState
from schemas.ids import page_id
from tests.fakes.ledger_rows import SITE, make_known

VERSION = "v2"
SOURCE = make_known("a").source


def known(
    ledger: Ledger, name: str, fragment: str | None, state: DocumentState = DocumentState.FETCHED
) -> None:
    doc = page_id(f"{SITE}/{name}")
    row = make_known(name, state=state, doc=doc, fragment_sha=fragment, pipeline_version=VERSION)
    ledger.documents.save([row])


def matched(ledger: Ledger, source: str = SOURCE) -> frozenset[str] | None:
    return ledger.matches.of_source(source, pipeline_version=VERSION)


def test_a_selector_matches_as_long_as_any_document_that_readers_may_see_has_it(ledger: Ledger) -> None:
    ledger.matches.save({"1": ("select a", "remove b"), "2": ("select a",), "3": ()})
    known(ledger, "a", "1")
    known(ledger, "b", "2")
    known(ledger, "c", "3")
    ledger.matches.save({"1": ("select a",)})

    assert matched(ledger) == {"select a", "remove b"}
    known(ledger, "a", "3")
    assert matched(ledger) == {"select a"}
    known(ledger, "b", "2", DocumentState.GONE)
    assert matched(ledger) == frozenset()


def test_before_this_version_has_parsed_anything_nothing_is_known(ledger: Ledger) -> None:
    assert matched(ledger) is None
    known(ledger, "a", "1")
    ledger.matches.save({"1": ("select a",)})

    assert ledger.matches.of_source(SOURCE, pipeline_version="v3") is None
    assert matched(ledger, "another") is None
    assert matched(ledger) == {"select a"}


def test_rows_of_versions_that_nothing_needs_are_dropped(ledger: Ledger) -> None:
    known(ledger, "a", "1")
    ledger.matches.save({"1": ("select a",), "2": ("select a", "remove b")})

    assert ledger.retention.drop_facts() == 2
    assert ledger.retention.drop_facts() == 0
    assert matched(ledger) == {"select a"}
