"""Where it is kept what the pages of PDFs gave, over SQLite files and a real PostgreSQL."""

from indexes.stores.ledger.ledger import Ledger
from indexes.stores.ledger.retention import FileKind
from schemas.documents import DocumentState
from schemas.ids import page_id
from tests.fakes.ledger_rows import SITE, make_known, make_live, publish, put

A = page_id(f"{SITE}/a")


def pages_kept(ledger: Ledger) -> set[str]:
    """Hashes of the pages that are needed."""
    return {sha for sha in ledger.retention.needed(FileKind.FRAGMENT) if sha.startswith("pages")}


def read(ledger: Ledger, version: str, *, state: DocumentState = DocumentState.FETCHED) -> str:
    """A version was parsed and is the newest; give the hash of its fragment."""
    fragment = make_live("a", version).fragment_sha
    ledger.pages.save({fragment: f"pages {version}"})
    ledger.documents.save([make_known("a", state=state, doc=A, fragment_sha=fragment)])
    return fragment


def test_pages_are_found_by_the_fragment_that_was_made_of_them(ledger: Ledger) -> None:
    fragment = read(ledger, "1")

    assert ledger.pages.of([fragment, "other"]) == {fragment: "pages 1"}
    ledger.pages.save({fragment: "pages 1 again"})
    assert ledger.pages.of([fragment]) == {fragment: "pages 1 again"}
    ledger.pages.save({fragment: None})
    assert ledger.pages.of([fragment]) == {}


def test_pages_are_kept_as_long_as_a_generation_has_what_they_gave(ledger: Ledger) -> None:
    for base, version in enumerate("12"):
        read(ledger, version)
        publish(ledger, put(make_live("a", version)), base=base)

    assert pages_kept(ledger) == {"pages 1", "pages 2"}
    ledger.generations.forget_before(2)
    assert pages_kept(ledger) == {"pages 2"}


def test_a_document_that_cannot_be_had_for_a_while_keeps_its_pages(ledger: Ledger) -> None:
    read(ledger, "1", state=DocumentState.FAILED)

    assert pages_kept(ledger) == {"pages 1"}


def test_pages_of_a_document_that_is_gone_are_dropped_and_forgotten(ledger: Ledger) -> None:
    fragment = read(ledger, "1", state=DocumentState.GONE)

    assert pages_kept(ledger) == frozenset()
    assert ledger.retention.drop_facts() == 1
    assert ledger.pages.of([fragment]) == {}
