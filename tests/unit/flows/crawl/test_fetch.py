"""Looking at documents of a real site on loopback whose validators lie in every way."""

import gzip
from collections.abc import Callable, Iterator
from datetime import timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from flows.crawl.fetch import fetch_batch
from schemas.documents import DocumentState as S
from schemas.documents import HistoryEvent, KnownDocument
from tests.fakes.known import NOW
from tests.fakes.plain_run import PlainRun, SetClock, know, open_plain_run, source_of
from tests.fakes.site_server import Ask, Reply, Site, with_validators

OLD, NEW = b"<html><p>One copper coin.</p></html>", b"<html><p>Two copper coins.</p></html>"


@pytest.fixture
def plain(site: Site, tmp_path: Path) -> Iterator[PlainRun]:
    with open_plain_run(tmp_path, source_of(site)) as plain:
        know(plain, site.url("/"))
        yield plain


def look(plain: PlainRun, site: Site, *, days: float = 1) -> KnownDocument:
    """Look at the page, so many days after the last look; forgets what was asked before."""
    clock = plain.index.clock
    assert isinstance(clock, SetClock)
    clock.forward(days=days)
    site.log.clear()
    uri = site.url("/")
    assert fetch_batch(plain.crawling, [uri]) == 1
    return plain.index.ledger.documents.get(plain.source.name, [uri])[uri]


def conditions(site: Site) -> list[tuple[str | None, str | None]]:
    """The validators of every request for the page since the last look."""
    names = ("if-none-match", "if-modified-since")
    return [tuple(map(ask.headers.get, names)) for ask in site.log if ask.path == "/"]  # type: ignore[misc]


def always(status: int, body: bytes = b"", **headers: str) -> Reply:
    return Reply(body, status, {name.replace("_", "-"): value for name, value in headers.items()})


def says_304_to_all_conditions(body: bytes, etag: str) -> Callable[[Ask], Reply]:
    """A server that takes any validator for the current one."""

    def answer(ask: Ask) -> Reply:
        return always(304) if "if-none-match" in ask.headers else always(200, body, ETag=etag)

    return answer


@pytest.mark.parametrize("off", [-1, 1])
def test_a_server_whose_clock_is_a_day_off_is_asked_by_its_own_clock(
    plain: PlainRun, site: Site, off: int
) -> None:
    stamp = format_datetime(NOW + timedelta(days=off), usegmt=True)
    site.pages["/"] = with_validators(OLD, modified=stamp)
    look(plain, site)

    assert look(plain, site).state is S.NOT_MODIFIED
    assert conditions(site) == [(None, stamp)]
    site.pages["/"] = with_validators(NEW, modified=format_datetime(NOW + timedelta(days=off, hours=1)))
    assert look(plain, site).state is S.FETCHED


def test_a_validator_that_never_saves_anything_is_no_longer_sent(plain: PlainRun, site: Site) -> None:
    site.pages["/"] = always(200, OLD, ETag='"1"')

    sent = [conditions(site) for _ in range(6) if look(plain, site)]

    nothing, etag = [(None, None)], [('"1"', None)]
    assert sent == [nothing, etag, etag, etag, nothing, nothing]


def test_a_server_that_calls_everything_unmodified_is_found_out_by_the_full_fetch(
    plain: PlainRun, site: Site
) -> None:
    site.pages["/"] = says_304_to_all_conditions(OLD, '"1"')
    look(plain, site)
    site.pages["/"] = says_304_to_all_conditions(NEW, '"2"')
    assert look(plain, site).state is S.NOT_MODIFIED

    found = look(plain, site, days=31)

    assert conditions(site) == [(None, None), ('"1"', None)], "the full fetch, then the proof"
    assert (found.state, found.denied) == (S.FETCHED, True)


def test_an_etag_that_stays_though_the_page_changed_is_found_out_without_asking_again(
    plain: PlainRun, site: Site
) -> None:
    site.pages["/"] = with_validators(OLD, etag='"same"')
    look(plain, site)
    site.pages["/"] = with_validators(NEW, etag='"same"')
    look(plain, site)

    assert look(plain, site, days=31).denied
    assert conditions(site) == [(None, None)]


def test_a_304_with_the_etag_of_something_else_is_no_answer(plain: PlainRun, site: Site) -> None:
    dated = {"Last-Modified": "Sun, 06 Nov 2022 08:49:37 GMT"}
    site.pages["/"] = Reply(OLD, 200, {"ETag": '"1"', **dated})
    look(plain, site)

    def by_date(ask: Ask) -> Reply:  # an older file, on a server that asks for nothing but the date
        older = {"ETag": '"0"', "Last-Modified": "Sat, 05 Nov 2022 08:49:37 GMT"}
        return Reply(b"", 304, older, None) if "if-modified-since" in ask.headers else Reply(NEW, 200, older)

    site.pages["/"] = by_date
    found = look(plain, site)

    assert (found.state, found.etag, found.denied) == (S.FETCHED, '"0"', False)
    assert conditions(site) == [('"1"', dated["Last-Modified"]), (None, None)]
    assert site.url("/") in plain.index.ledger.hosts.disbelieved_dates()
    assert look(plain, site).state is S.NOT_MODIFIED, "the new date is believed"


def test_a_page_that_changed_since_its_last_304_accuses_nobody(plain: PlainRun, site: Site) -> None:
    site.pages["/"] = with_validators(OLD, etag='"1"')
    look(plain, site)
    look(plain, site)
    site.pages["/"] = with_validators(NEW, etag='"2"')

    found = look(plain, site, days=31)

    assert (found.state, found.denied, found.etag) == (S.FETCHED, False, '"2"')
    assert conditions(site) == [(None, None), ('"1"', None)]


def test_a_host_that_lied_is_asked_without_conditions_from_then_on(plain: PlainRun, site: Site) -> None:
    site.pages["/"] = with_validators(OLD, etag='"1"')
    look(plain, site)
    plain.index.ledger.hosts.distrust({site.address: "it lied"}, now="2026-03-01")

    assert look(plain, site).state is S.FETCHED
    assert conditions(site) == [(None, None)]


def test_what_was_refused_is_asked_for_whole_once_the_formats_are_others(
    site: Site, plain: PlainRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.pages["/"] = Reply(b"PK", headers={"ETag": '"1"'}, content_type="application/zip")
    assert look(plain, site).state is S.UNSUPPORTED
    look(plain, site)
    assert conditions(site) == [('"1"', None)]

    monkeypatch.setattr("flows.crawl.fetch.formats_version", lambda: "one more format")
    look(plain, site)
    assert conditions(site) == [(None, None)]
    look(plain, site)
    assert conditions(site) == [('"1"', None)]


def gives_the_size_of_the_gzip_form(body: bytes, etag: str) -> Callable[[Ask], Reply]:
    """A server that compresses, and whose 304 has the size of the compressed page, but not its coding."""
    packed = gzip.compress(body)

    def answer(ask: Ask) -> Reply:
        if ask.headers.get("if-none-match") == etag:
            return always(304, ETag=etag, Content_Length=str(len(packed)))
        return always(200, packed, ETag=etag, Content_Encoding="gzip")

    return answer


def pages_of(plain: PlainRun, site: Site, number: int) -> list[str]:
    """Let *number* pages be known besides the first."""
    uris = [site.url(f"/{name}") for name in range(number)]
    know(plain, *uris)
    return uris


def test_a_host_whose_304s_give_the_size_of_compressed_pages_is_asked_twice_for_one_of_them(
    plain: PlainRun, site: Site
) -> None:
    uris = pages_of(plain, site, 8)
    for number in range(8):
        text = f"<html><p>{number} copper coins. {'Many more. ' * 30}</p></html>"
        site.pages[f"/{number}"] = gives_the_size_of_the_gzip_form(text.encode(), f'"{number}"')
    fetch_batch(plain.crawling, uris)
    site.log.clear()

    fetch_batch(plain.crawling, uris)

    assert len(site.log) == 8 + 1
    rows = plain.index.ledger.documents.get(plain.source.name, uris).values()
    assert sorted(row.state for row in rows) == [S.FETCHED, *[S.NOT_MODIFIED] * 7]


def test_where_a_304_gives_the_size_of_another_page_all_of_its_host_are_asked_for_again(
    plain: PlainRun, site: Site
) -> None:
    uris = pages_of(plain, site, 4)
    for number in range(4):
        site.pages[f"/{number}"] = with_validators(OLD, etag='"1"')
    fetch_batch(plain.crawling, uris)
    longer = NEW + b" " * 9

    def answer(ask: Ask) -> Reply:
        if "if-none-match" in ask.headers:
            return always(304, Content_Length=str(len(longer)))
        return always(200, longer)

    for number in range(4):
        site.pages[f"/{number}"] = answer

    fetch_batch(plain.crawling, uris)

    rows = plain.index.ledger.documents.get(plain.source.name, uris).values()
    assert [row.state for row in rows] == [S.FETCHED] * 4


def told(plain: PlainRun, site: Site) -> list[tuple[bool | None, int | None, str, str]]:
    """What is remembered of the looks at the page: conditional or not, status, state, reason."""
    entries = plain.index.ledger.history.of_document(plain.source.name, site.url("/"))
    return [
        (entry.conditional, entry.http_status, entry.to_state.value, entry.reason)
        for entry in entries
        if entry.event is HistoryEvent.LOOKED
    ]


def test_both_requests_for_a_page_that_is_asked_for_twice_are_remembered(plain: PlainRun, site: Site) -> None:
    site.pages["/"] = with_validators(OLD, etag='"1"')
    look(plain, site)
    site.pages["/"] = [always(304, ETag='"2"'), always(200, NEW, ETag='"2"')]
    look(plain, site)

    why = "its ETag is of something else: asked for without conditions"
    assert told(plain, site) == [
        (False, 200, "fetched", ""),
        (True, 304, "not_modified", why),
        (False, 200, "fetched", ""),
    ]


def test_the_request_that_proves_what_a_304_hid_is_remembered_and_is_no_state_of_its_own(
    plain: PlainRun, site: Site
) -> None:
    site.pages["/"] = says_304_to_all_conditions(OLD, '"1"')
    look(plain, site)
    site.pages["/"] = says_304_to_all_conditions(NEW, '"2"')
    look(plain, site)
    known = look(plain, site, days=31)
    plain.index.ledger.documents.save([known])

    why = "asked once more with the validators of before"
    assert told(plain, site)[-2:] == [(False, 200, "fetched", ""), (True, 304, "fetched", why)]
    entries = plain.index.ledger.history.of_document(plain.source.name, site.url("/"))
    assert entries[-1].event is HistoryEvent.LOOKED
