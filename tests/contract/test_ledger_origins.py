"""Which bytes the documents of a generation were read from, over SQLite files and a real PostgreSQL."""

from indexes.stores.ledger.ledger import Ledger
from indexes.stores.ledger.retention import FileKind
from schemas.documents import DocumentState
from schemas.ids import page_id
from tests.fakes.ledger_rows import SITE, make_known, make_live, publish, put

A = page_id(f"{SITE}/a")


def read(ledger: Ledger, version: str) -> None:
    """Bytes came that are read, and are the newest."""
    live = make_live("a", version)
    ledger.origins.save({live.fragment_sha: f"raw {version}"})
    ledger.documents.save([make_known("a", state=DocumentState.FETCHED, doc=A, raw_sha=f"raw {version}")])


def test_each_generation_has_the_bytes_that_its_documents_were_read_from(ledger: Ledger) -> None:
    for base, version in enumerate("12"):
        read(ledger, version)
        publish(ledger, put(make_live("a", version)), base=base)
    publish(ledger, put(make_live("no pdf", "1")), base=2)

    assert [ledger.origins.of_generation(number) for number in (1, 2, 3)] == [
        {A: "raw 1"},
        {A: "raw 2"},
        {A: "raw 2"},
    ]
    assert ledger.origins.of_generation(1, docs=[A]) == {A: "raw 1"}
    assert ledger.origins.of_generation(1, docs=["page:other"]) == {}


def test_of_bytes_that_read_the_same_the_last_ones_count(ledger: Ledger) -> None:
    live = make_live("a", "1")
    publish(ledger, put(live), base=0)
    for raw in ("first", "second"):
        ledger.origins.save({live.fragment_sha: raw})

    assert ledger.origins.of_generation(1) == {A: "second"}


def test_bytes_that_a_kept_generation_was_read_from_are_kept_behind_newer_ones(ledger: Ledger) -> None:
    read(ledger, "1")
    publish(ledger, put(make_live("a", "1")), base=0)
    known = make_known("a", state=DocumentState.QUARANTINED, doc=A, raw_sha="a login page")
    ledger.documents.save([known])

    assert ledger.retention.needed(FileKind.RAW) == {"raw 1", "a login page"}


def test_of_bytes_that_were_not_kept_this_is_known_and_they_are_not_missed(ledger: Ledger) -> None:
    live = make_live("a", "1")
    ledger.origins.save({live.fragment_sha: None})
    publish(ledger, put(live), base=0)

    assert ledger.origins.of_generation(1) == {A: None}
    assert ledger.retention.needed(FileKind.RAW) == frozenset()


def test_what_no_generation_and_no_document_needs_is_forgotten(ledger: Ledger) -> None:
    for base, version in enumerate("12"):
        read(ledger, version)
        publish(ledger, put(make_live("a", version)), base=base)
    assert ledger.retention.drop_facts() == 0
    ledger.generations.forget_before(2)

    assert ledger.retention.drop_facts() == 1
    assert ledger.retention.needed(FileKind.RAW) == {"raw 2"}
    assert ledger.origins.of_generation(2) == {A: "raw 2"}
