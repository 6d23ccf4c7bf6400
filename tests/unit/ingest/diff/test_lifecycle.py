"""The table of docs/rules/recrawl.md: what a look at a document makes of its state."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from ingest.diff.lifecycle import after_fetch, missing_until, take_missing
from schemas.documents import DocumentState as S
from schemas.documents import KnownDocument
from schemas.fetch import FetchResult
from schemas.fetch import FetchStatus as F
from schemas.nodes import Dated, DateOrigin
from schemas.source import GoneAfter
from tests.fakes.known import NOW, SITE, fetched, known
from tests.fakes.secret_samples import github_token

VERDICTS = {
    F.OK: S.FETCHED,
    F.NOT_MODIFIED: S.NOT_MODIFIED,
    F.REDIRECTED: S.REDIRECTED,
    F.NOT_FOUND: S.MISSING,
    F.GONE: S.GONE,
    F.DISALLOWED: S.DISALLOWED,
    F.UNSUPPORTED: S.UNSUPPORTED,
    F.REFUSED: S.FAILED,
    F.FAILED: S.FAILED,
}


def look(
    document: KnownDocument, result: FetchResult, *, now: datetime = NOW, misses: int = 2, hours: float = 24
) -> KnownDocument:
    """Record one look."""
    return after_fetch(
        document,
        result,
        raw_sha="new bytes" if result.status is F.OK else None,
        run_id="run-2",
        now=now,
        gone_after=GoneAfter(misses=misses, hours=hours),
        conditional=result.status is F.NOT_MODIFIED,
    )


@pytest.mark.parametrize("before", S)
def test_a_look_decides_the_state_whatever_it_was_before(before: S) -> None:
    for status in F:
        after = look(known(state=before, run_id="run-1"), fetched(status, reason="because", http_status=299))
        still_none = before is S.UNSUPPORTED and status is F.NOT_MODIFIED
        assert after.state is (S.UNSUPPORTED if still_none else VERDICTS[status])
        assert (after.run_id, after.checked_at, after.reason) == ("run-2", NOW.isoformat(), "because")
        assert after.http_status == 299


def test_a_redirect_to_an_address_with_a_secret_is_refused_and_the_address_not_kept() -> None:
    after = look(known(), fetched(F.REDIRECTED, location=f"{SITE}?key={github_token()}"))
    assert (after.state, after.location) == (S.FAILED, None)
    assert after.reason == "redirects to an address that carries a secret"


def test_every_answer_has_a_verdict() -> None:
    assert VERDICTS.keys() == set(F)


@pytest.mark.parametrize(
    "status", [F.NOT_MODIFIED, F.REDIRECTED, F.NOT_FOUND, F.FAILED, F.DISALLOWED, F.GONE]
)
def test_only_new_bytes_touch_the_bytes_and_their_time(status: F) -> None:
    before = known(raw_sha="old", fetched_at="2026-01-01", fragment_sha="f", content_hash="c", doc="page:1")
    after = look(before, fetched(status))
    assert (after.raw_sha, after.fetched_at, after.fragment_sha) == ("old", "2026-01-01", "f")
    assert (after.content_hash, after.doc) == ("c", "page:1")


def test_new_bytes_bring_their_validators_and_clear_what_went_wrong() -> None:
    before = known(failures=3, misses=1, missed_at="2026-01-01T00:00:00+00:00", etag='"old"')
    after = look(before, fetched(F.OK, etag=None, last_modified="Sat, 28 Feb 2026 10:00:00 GMT"))
    assert (after.raw_sha, after.fetched_at) == ("new bytes", NOW.isoformat())
    assert (after.etag, after.last_modified) == (None, "Sat, 28 Feb 2026 10:00:00 GMT")
    assert (after.failures, after.misses, after.missed_at) == (0, 0, None)


def test_equal_bytes_under_an_equal_header_bring_no_date_that_was_not_believed_before() -> None:
    header = "Sat, 28 Feb 2026 10:00:00 GMT"
    dated = Dated(at="2026-02-28T10:00:00+00:00", origin=DateOrigin.HTTP)
    before = known(raw_sha="new bytes", last_modified=header)
    assert look(before, fetched(F.OK, last_modified=header, modified=dated)).fetched_modified is None
    other = replace(before, last_modified="Fri, 27 Feb 2026 10:00:00 GMT")
    assert look(other, fetched(F.OK, last_modified=header, modified=dated)).fetched_modified == dated.at


def test_a_304_may_bring_a_new_validator_and_keeps_the_old_one_otherwise() -> None:
    assert look(known(etag='"1"'), fetched(F.NOT_MODIFIED, etag='"2"')).etag == '"2"'
    assert look(known(etag='"1"'), fetched(F.NOT_MODIFIED)).etag == '"1"'


@pytest.mark.parametrize(
    ("before", "told", "tag", "parsed_sha"),
    [
        (None, "noindex", "noindex", None),
        ("noindex", "noindex", "noindex", "r"),
        ("noindex", None, "noindex", "r"),
    ],
)
def test_a_word_to_robots_that_comes_with_a_304_is_heard(
    before: str | None, told: str | None, tag: str, parsed_sha: str | None
) -> None:
    document = known(raw_sha="r", parsed_sha="r", x_robots_tag=before)
    after = look(document, fetched(F.NOT_MODIFIED, x_robots_tag=told))
    assert (after.x_robots_tag, after.parsed_sha) == (tag, parsed_sha)


def test_a_304_to_the_validators_of_an_archive_does_not_bring_the_old_page_back() -> None:
    page = known(state=S.FETCHED, raw_sha="page", fragment_sha="f", etag='"page"', failures=2)
    archive = look(page, fetched(F.UNSUPPORTED, etag='"zip"', reason="unsupported type 'application/zip'"))
    assert (archive.etag, archive.raw_sha, archive.fragment_sha, archive.failures) == ('"zip"', None, "f", 0)
    again = look(archive, fetched(F.NOT_MODIFIED, etag='"zip2"'))
    assert (again.state, again.etag, again.reason) == (S.UNSUPPORTED, '"zip2"', archive.reason)
    assert look(again, fetched(F.OK)).state is S.FETCHED


@pytest.mark.parametrize(
    ("misses", "hours", "looks", "states"),
    [
        (2, 24, [0, 23], [S.MISSING, S.MISSING]),
        (2, 24, [0, 24], [S.MISSING, S.GONE]),
        (2, 24, [0, 1, 2, 30], [S.MISSING, S.MISSING, S.MISSING, S.GONE]),
        (3, 24, [0, 48, 49], [S.MISSING, S.MISSING, S.GONE]),
        (1, 0, [0], [S.GONE]),
        (1, 24, [0, 24], [S.MISSING, S.GONE]),
    ],
)
def test_a_404_must_be_confirmed_often_and_long_enough(
    misses: int, hours: float, looks: list[int], states: list[S]
) -> None:
    document, seen = known(state=S.FETCHED), []
    for hour in looks:
        now = NOW + timedelta(hours=hour)
        document = look(document, fetched(F.NOT_FOUND), now=now, misses=misses, hours=hours)
        seen.append(document.state)
    assert seen == states


def test_somebody_may_say_at_once_that_what_a_run_found_missing_is_gone() -> None:
    found = [known(state=S.MISSING), known(state=S.FETCHED)]
    mine = [replace(document, run_id="now") for document in found]
    earlier = [replace(document, run_id="before") for document in found]
    assert [d.state for d in take_missing([*mine, *earlier], run_id="now")] == [S.GONE]


def test_missing_documents_stay_until_the_last_of_them_has_waited_long_enough() -> None:
    first, later = (known(state=S.MISSING), known(state=S.MISSING))
    first = replace(first, missed_at=NOW.isoformat())
    later = replace(later, missed_at=(NOW + timedelta(hours=3)).isoformat())
    assert missing_until([first, later], GoneAfter(misses=2, hours=24)) == NOW + timedelta(hours=27)
    assert missing_until([known(state=S.FETCHED)], GoneAfter()) is None


@pytest.mark.parametrize("between", [F.OK, F.NOT_MODIFIED, F.REDIRECTED])
def test_an_answer_between_two_404s_begins_the_count_again(between: F) -> None:
    document = look(known(), fetched(F.NOT_FOUND))
    document = look(document, fetched(between), now=NOW + timedelta(days=2))
    document = look(document, fetched(F.NOT_FOUND), now=NOW + timedelta(days=4))
    assert (document.state, document.misses) == (S.MISSING, 1)


@pytest.mark.parametrize("between", [F.FAILED, F.REFUSED, F.DISALLOWED])
def test_no_answer_between_two_404s_neither_counts_nor_clears(between: F) -> None:
    document = look(known(), fetched(F.NOT_FOUND))
    document = look(document, fetched(between), now=NOW + timedelta(days=2))
    assert (document.state is S.GONE, document.misses) == (False, 1)
    assert look(document, fetched(F.NOT_FOUND), now=NOW + timedelta(days=3)).state is S.GONE


def test_failures_count_up_and_any_answer_clears_them() -> None:
    document = look(look(known(), fetched(F.FAILED)), fetched(F.REFUSED))
    assert document.failures == 2
    for status in (F.OK, F.NOT_MODIFIED, F.REDIRECTED, F.NOT_FOUND, F.GONE):
        assert look(document, fetched(status)).failures == 0


@pytest.mark.parametrize("status", [F.OK, F.NOT_MODIFIED])
def test_bytes_that_could_not_be_read_are_no_success_when_they_come_again(status: F) -> None:
    unread = known(state=S.FAILED, failures=2, raw_sha="bad bytes", parsed_sha="good bytes")
    assert look(unread, fetched(status)).failures == 2
    read = known(state=S.FAILED, failures=2, raw_sha="new bytes", parsed_sha="new bytes")
    assert look(read, fetched(status)).failures == 0


@pytest.mark.parametrize("status", [F.GONE, F.NOT_FOUND])
def test_another_look_at_a_moved_page_does_not_forget_where_it_went(status: F) -> None:
    moved = known(state=S.NEW, location="https://docs.example.org/new/", misses=2, missed_at=NOW.isoformat())
    after = look(moved, fetched(status), now=NOW + timedelta(days=2))
    assert (after.state, after.location) == (S.GONE, "https://docs.example.org/new/")


def test_permanent_redirects_to_one_address_are_counted_and_anything_else_begins_again() -> None:
    there = "https://docs.example.org/new/"
    once = look(known(), fetched(F.REDIRECTED, location=there, permanent=True))
    twice = look(once, fetched(F.REDIRECTED, location=there, permanent=True))
    elsewhere = look(twice, fetched(F.REDIRECTED, location=f"{there}x", permanent=True))
    assert (once.moves, twice.moves, elsewhere.moves) == (1, 2, 1)
    assert look(twice, fetched(F.REDIRECTED, location=there)).moves == 0
    assert look(twice, fetched(F.OK)).moves == 0


@pytest.mark.parametrize("later", [F.OK, F.NOT_MODIFIED, F.NOT_FOUND, F.FAILED, F.DISALLOWED, F.GONE])
def test_where_a_redirect_led_is_forgotten_with_the_redirect(later: F) -> None:
    document = look(known(), fetched(F.REDIRECTED, location="https://docs.example.org/new/"))
    assert document.location == "https://docs.example.org/new/"
    assert look(document, fetched(later)).location is None


@pytest.mark.parametrize(
    ("state", "statuses", "misses"),
    [
        (S.QUARANTINED, [F.OK], 5),
        (S.QUARANTINED, [F.NOT_MODIFIED], 5),
        (S.QUARANTINED, [F.NOT_FOUND], 1),
        (S.QUARANTINED, [F.FAILED, F.NOT_FOUND], 1),
        (S.QUARANTINED, [F.DISALLOWED, F.NOT_FOUND], 1),
        (S.FETCHED, [F.NOT_FOUND], 1),
        (S.MISSING, [F.FAILED, F.NOT_FOUND], 6),
    ],
)
def test_looks_at_a_text_that_was_held_or_taken_are_no_404s(state: S, statuses: list[F], misses: int) -> None:
    document = known(state=state, misses=5, missed_at="2026-01-01T00:00:00+00:00")
    for status in statuses:
        document = look(document, fetched(status), hours=10_000)
    assert (document.state is S.GONE, document.misses) == (False, misses)
