"""What the ledger says of how an index is, over SQLite files and a real PostgreSQL."""

from dataclasses import replace
from pathlib import Path

import pytest

from indexes.stores.ledger.ledger import Ledger, open_ledger
from schemas.documents import DocumentState, FetchAttempt
from schemas.errors import SitegraphError
from tests.fakes.ledger_rows import SITE, make_known, make_live, publish, put

MONDAY, TUESDAY, SUNDAY = (f"2026-01-{day}T00:00:00+00:00" for day in ("05", "06", "11"))
LOOK = FetchAttempt(conditional=True, bytes=0)


def look(ledger: Ledger, path: str, at: str, state: DocumentState, content: str | None = "v1") -> None:
    """Save what a look at a document found."""
    known = make_known(
        path,
        state=state,
        checked_at=at,
        fetched_at=MONDAY,
        content_hash=content and f"content of {path} {content}",
    )
    ledger.documents.save([known], {known.uri: LOOK})


def test_what_was_called_unmodified_is_confirmed_by_that_look(ledger: Ledger) -> None:
    number = publish(ledger, put(make_live("a", "v1", fetched_at=MONDAY)), base=0)
    look(ledger, "a", f"{TUESDAY[:19]}.345678+00:00", DocumentState.NOT_MODIFIED)

    assert ledger.health.confirmed(number) == {"site": ((TUESDAY, 1),)}


@pytest.mark.parametrize("state", [DocumentState.FAILED, DocumentState.MISSING, DocumentState.QUARANTINED])
def test_a_look_that_brought_nothing_confirms_nothing(ledger: Ledger, state: DocumentState) -> None:
    number = publish(ledger, put(make_live("a", "v1", fetched_at=MONDAY)), base=0)
    look(ledger, "a", TUESDAY, DocumentState.NOT_MODIFIED)
    look(ledger, "a", SUNDAY, state)

    assert ledger.health.confirmed(number) == {"site": ((TUESDAY, 1),)}


def test_newer_content_that_readers_do_not_see_confirms_nothing(ledger: Ledger) -> None:
    number = publish(ledger, put(make_live("a", "v1", fetched_at=MONDAY)), base=0)
    look(ledger, "a", MONDAY, DocumentState.FETCHED)
    look(ledger, "a", SUNDAY, DocumentState.FETCHED, content="v2")

    assert ledger.health.confirmed(number) == {"site": ((MONDAY, 1),)}


def test_documents_are_counted_by_time_and_source_oldest_first(ledger: Ledger) -> None:
    lives = [make_live(path, "v1", fetched_at=MONDAY) for path in "abc"]
    other = make_live("d", "v1", source="other", fetched_at=SUNDAY)
    undated = make_live("e", "v1")
    number = publish(ledger, *(put(one) for one in (*lives, other, undated)), base=0)
    look(ledger, "a", SUNDAY, DocumentState.NOT_MODIFIED)

    assert ledger.health.confirmed(number) == {
        "site": ((MONDAY, 2), (SUNDAY, 1)),
        "other": ((SUNDAY, 1),),
    }
    assert ledger.health.confirmed(number - 1) == {}


def test_those_are_due_that_a_run_with_due_would_look_at(ledger: Ledger) -> None:
    ledger.documents.save(
        [
            make_known("past", state=DocumentState.FETCHED, next_due=MONDAY),
            make_known("now", state=DocumentState.FAILED, next_due=TUESDAY),
            make_known("later", state=DocumentState.FETCHED, next_due=SUNDAY),
            make_known("new", next_due=SUNDAY),
            make_known("gone", state=DocumentState.GONE, next_due=MONDAY),
        ]
    )
    wanted = ledger.frontier.to_look_at("site", run_id="r", due_by=TUESDAY, limit=99)

    assert {one.uri for one in wanted} == {f"{SITE}/{path}" for path in ("past", "now", "new")}
    assert ledger.health.due(TUESDAY) == {"site": 3}


def test_failed_documents_are_counted_by_what_answered(ledger: Ledger) -> None:
    failed = make_known("a", state=DocumentState.FAILED)
    ledger.documents.save(
        [
            failed,
            replace(failed, uri=f"{SITE}/b", http_status=503),
            replace(failed, uri=f"{SITE}/c", http_status=503),
            make_known("d", state=DocumentState.MISSING, http_status=404),
        ]
    )

    assert ledger.health.failed() == {"site": {None: 1, 503: 2}}


def test_a_ledger_opened_to_read_says_the_same_and_writes_nothing(ledger: Ledger, ledger_url: str) -> None:
    ledger.documents.save([make_known("a", next_due=MONDAY)])

    reading = open_ledger(ledger_url, read_only=True)

    try:
        assert reading.health.due(TUESDAY) == {"site": 1}
        with pytest.raises(SitegraphError):
            reading.documents.save([make_known("b")])
        assert reading.documents.count("site") == 1
    finally:
        reading.close()


def test_reading_does_not_wait_for_a_writer_and_leaves_no_file_behind(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    writing = open_ledger(url)
    writing.documents.save([make_known("a", next_due=MONDAY)])
    with writing.engine.begin():  # as a run that writes for long
        reading = open_ledger(url, read_only=True)
        assert reading.health.due(TUESDAY) == {"site": 1}
        reading.close()
    writing.close()
    before = sorted(tmp_path.iterdir())

    again = open_ledger(url, read_only=True)
    assert again.health.due(TUESDAY) == {"site": 1}
    again.close()

    assert sorted(tmp_path.iterdir()) == before == [tmp_path / "ledger.sqlite"]


@pytest.mark.parametrize("sort", ["run", "reader"])
def test_who_reads_sees_what_is_written_meanwhile_and_whoever_goes_last_leaves_no_file(
    sort: str, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    open_ledger(url).close()
    reading = open_ledger(url, read_only=True)
    assert reading.documents.count("site") == 0
    writing = open_ledger(url)
    writing.documents.save([make_known(str(number)) for number in range(2000)])
    first, last = (writing, reading) if sort == "reader" else (reading, writing)

    first.engine.dispose()
    assert len(last.documents.of_source("site")) == 2000
    last.close()
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.sqlite"]
