"""What the ledger remembers of a document, over SQLite files and a real PostgreSQL."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from indexes.stores.ledger.history import KEEP_ENTRIES
from indexes.stores.ledger.ledger import Ledger, open_ledger
from schemas.documents import DocumentState, FetchAttempt, HistoryEntry, HistoryEvent, KnownDocument
from schemas.source import Scope, Source
from tests.fakes.ledger_rows import ODD_NAME, make_known

NOW = "2026-03-01T00:00:00+00:00"
FULL, ASKED = FetchAttempt(conditional=False, bytes=900), FetchAttempt(conditional=True, bytes=0)


@pytest.fixture
def ledger(ledger_url: str) -> Iterator[Ledger]:
    """An empty ledger in either database that knows what time it is."""
    opened = open_ledger(ledger_url, now=lambda: NOW)
    yield opened
    opened.close()


def day(number: int) -> str:
    return f"2026-04-{number:02d}T00:00:00+00:00"


def look(
    ledger: Ledger, known: KnownDocument, at: FetchAttempt, day_no: int, **fields: object
) -> KnownDocument:
    """Save the document as a run on that day would."""
    seen = replace(known, checked_at=day(day_no), run_id=f"run {day_no}", **fields)  # type: ignore[arg-type]
    ledger.documents.save([seen], {seen.uri: at})
    return seen


def of(ledger: Ledger, known: KnownDocument) -> tuple[HistoryEntry, ...]:
    return ledger.history.of_document(known.source, known.uri)


def story(ledger: Ledger, known: KnownDocument) -> list[tuple[str, str | None, str, int]]:
    """Event, state before and after, and how many times, oldest first."""
    return [
        (entry.event.value, entry.from_state and entry.from_state.value, entry.to_state.value, entry.times)
        for entry in of(ledger, known)
    ]


def test_a_document_is_found_looked_at_and_parsed(ledger: Ledger) -> None:
    new = make_known("a", found_by="https://site.test/")
    ledger.documents.add_new([new])
    seen = look(ledger, new, FULL, 1, state=DocumentState.FETCHED, http_status=200, raw_sha="r1")
    ledger.documents.save([replace(seen, content_hash="c1", title="A")])

    found, looked, parsed = of(ledger, new)
    assert (found.event, found.at, found.to_state) == (HistoryEvent.FOUND, NOW, DocumentState.NEW)
    assert (looked.event, looked.at, looked.run_id) == (HistoryEvent.LOOKED, day(1), "run 1")
    assert (looked.http_status, looked.bytes, looked.conditional) == (200, 900, False)
    assert (looked.from_state, looked.to_state) == (DocumentState.NEW, DocumentState.FETCHED)
    assert (parsed.event, parsed.at, parsed.content_hash) == (HistoryEvent.PARSED, NOW, "c1")


def test_a_look_of_two_attempts_is_an_entry_for_each_and_the_last_answer_goes_on(ledger: Ledger) -> None:
    known = make_known("a", raw_sha="r", content_hash="c")
    known = look(ledger, known, ASKED, 1, state=DocumentState.NOT_MODIFIED, http_status=304)
    unbelieved = replace(ASKED, state=DocumentState.NOT_MODIFIED, http_status=304, raw_sha="r", reason="")
    twice = replace(FULL, earlier=(unbelieved,))
    for number in (2, 3):
        known = look(ledger, known, twice, number, state=DocumentState.FETCHED, http_status=200, raw_sha="r2")

    kept = [(entry.http_status, entry.raw_sha, entry.times, entry.conditional) for entry in of(ledger, known)]
    assert kept == [
        (304, "r", 2, True),
        (200, "r2", 1, False),
        (304, "r", 1, True),
        (200, "r2", 1, False),
    ]
    assert [entry.seq for entry in of(ledger, known)] == sorted({entry.seq for entry in of(ledger, known)})


def test_the_same_answer_again_is_counted_and_adds_no_row(ledger: Ledger) -> None:
    known = make_known("a", raw_sha="r", content_hash="c")
    known = look(ledger, known, FULL, 1, state=DocumentState.FETCHED, http_status=200)
    for number in range(2, 30):
        look(ledger, known, ASKED, number, state=DocumentState.NOT_MODIFIED, http_status=304)

    first, last = of(ledger, known)
    assert (first.times, last.times) == (1, 28)
    assert (last.at, last.until, last.run_id) == (day(2), day(29), "run 29")
    assert (last.from_state, last.to_state) == (DocumentState.FETCHED, DocumentState.NOT_MODIFIED)


@pytest.mark.parametrize(
    "otherwise",
    [
        {"http_status": 404},
        {"state": DocumentState.FAILED},
        {"raw_sha": "other"},
        {"reason": "HTTP 500"},
        {"location": "https://site.test/b"},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_another_answer_is_another_entry(ledger: Ledger, otherwise: dict[str, object]) -> None:
    fields = {"state": DocumentState.FETCHED, "http_status": 200, "raw_sha": "r", **otherwise}
    known = look(ledger, make_known("a"), FULL, 1, state=DocumentState.FETCHED, http_status=200, raw_sha="r")
    look(ledger, known, FULL, 2, **fields)

    assert [entry.at for entry in of(ledger, known)] == [day(1), day(2)]


def test_what_is_saved_without_a_look_and_without_news_is_not_remembered(ledger: Ledger) -> None:
    known = look(ledger, make_known("a"), FULL, 1, state=DocumentState.FETCHED)
    before = of(ledger, known)

    ledger.documents.save([replace(known, next_due=day(9), interval=5.0, title="another")])

    assert of(ledger, known) == before


def test_a_state_that_changes_without_a_look_is_dated_by_the_clock(ledger: Ledger) -> None:
    known = look(ledger, make_known("a"), FULL, 1, state=DocumentState.FETCHED, reason="")
    ledger.documents.save([replace(known, state=DocumentState.OUT_OF_SCOPE, reason="excluded")])
    ledger.documents.save([replace(known, state=DocumentState.NEW, reason="excluded")])

    _, left, back = of(ledger, known)
    assert (left.event, left.at, left.reason) == (HistoryEvent.STATE, NOW, "excluded")
    assert (left.from_state, left.to_state) == (DocumentState.FETCHED, DocumentState.OUT_OF_SCOPE)
    assert (back.from_state, back.to_state, back.reason) == (left.to_state, DocumentState.NEW, "")


def test_without_a_clock_the_time_is_that_of_the_last_look(ledger_url: str) -> None:
    ledger = open_ledger(ledger_url)
    known = look(ledger, make_known("a"), FULL, 1, state=DocumentState.FETCHED)
    ledger.documents.save([replace(known, state=DocumentState.FAILED)])

    assert [entry.at for entry in of(ledger, known)] == [day(1), day(1)]
    ledger.close()


def test_the_newest_entries_stay_and_how_it_was_found(ledger: Ledger) -> None:
    known = make_known("a")
    ledger.documents.add_new([known])
    for number in range(1, 3 * KEEP_ENTRIES):
        look(ledger, known, FULL, 1, state=DocumentState.FETCHED, http_status=200 + number)

    entries = of(ledger, known)
    assert entries[0].event is HistoryEvent.FOUND
    assert [entry.http_status for entry in entries[1:]] == [
        200 + n for n in range(2 * KEEP_ENTRIES, 3 * KEEP_ENTRIES)
    ]


def test_finding_a_known_document_again_adds_nothing(ledger: Ledger) -> None:
    known = make_known("a")
    ledger.documents.add_new([known])
    look(ledger, known, FULL, 1, state=DocumentState.FETCHED)
    ledger.documents.add_new([known, make_known("b")])

    assert [event for event, *_ in story(ledger, known)] == ["found", "looked"]
    assert [event for event, *_ in story(ledger, make_known("b"))] == ["found"]


def test_sources_and_addresses_are_apart_whatever_their_names(ledger: Ledger) -> None:
    name = ODD_NAME
    mine, theirs = make_known(name, source=name), make_known(name)
    ledger.documents.save([mine, theirs], {mine.uri: FULL})
    ledger.documents.forget(name)

    assert of(ledger, mine) == ()
    assert story(ledger, theirs) == [("looked", None, "new", 1)]


def test_a_source_is_remembered_as_its_last_run_read_it_until_it_is_dropped(ledger: Ledger) -> None:
    source = Source(
        name="o'neill",
        kind="web",
        seeds=("https://site.test/",),
        scope=Scope(exclude=("*/old/*",), max_depth=3),
    )
    ledger.sources.save(replace(source, seeds=()))
    ledger.sources.save(source)
    assert ledger.sources.all() == {"o'neill": source}
    kept = replace(source, kind="shelf", kind_keys='{"shelf": "upper"}')
    ledger.sources.save(kept)
    assert ledger.sources.all() == {"o'neill": kept}

    ledger.documents.forget("o'neill")
    assert ledger.sources.all() == {}
