"""What a sitemap lists and claims, in a crawl: dates set the order, lies cost it, orphans stay."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from flows.commit.report import reschedule
from flows.run.values import Difference
from schemas.changes import ChangeKind, DocumentChange
from schemas.documents import DocumentState, LiveDocument
from schemas.source import GoneAfter, Recrawl, Scope
from tests.fakes.known import NOW
from tests.fakes.plain_crawl import crawl, page
from tests.fakes.plain_run import PlainRun, open_plain_run, source_of
from tests.fakes.site_server import Reply, Site, serve


@pytest.fixture
def site() -> Iterator[Site]:
    with serve(Site({"/": page("Start")})) as served:
        yield served


def list_pages(site: Site, dates: dict[str, str | None]) -> None:
    """Serve a sitemap with these pages and the dates it claims for them."""
    entries = "".join(
        f"<url><loc>{site.url(path)}</loc>{f'<lastmod>{date}</lastmod>' if date else ''}</url>"
        for path, date in dates.items()
    )
    site.pages["/sitemap.xml"] = Reply(f"<urlset>{entries}</urlset>".encode(), content_type="text/xml")


def pages_asked_for(site: Site) -> list[str]:
    asked = [path for path in site.paths() if path not in ("/sitemap.xml", "/")]
    site.log.clear()
    return asked


def test_the_latest_change_is_looked_at_first(site: Site, tmp_path: Path) -> None:
    list_pages(site, {"/a": None, "/b": "2026-01-01", "/c": "2026-02-01", "/d": "2026-01-15T08:00:00Z"})
    for path in "abcd":
        site.pages[f"/{path}"] = page(path)

    crawl(tmp_path, source_of(site))

    assert pages_asked_for(site) == ["/c", "/d", "/b", "/a"]


def test_where_there_is_no_room_for_all_the_latest_changes_come_in(site: Site, tmp_path: Path) -> None:
    list_pages(site, {f"/p{day:02}": f"2026-01-{day:02}" for day in range(1, 21)})
    crawled = crawl(tmp_path, source_of(site, scope=Scope(max_pages=6)))
    named = {uri.removeprefix(site.origin) for uri in crawled.rows}
    assert named == {"/", "/p20", "/p19", "/p18", "/p17", "/p16"}
    assert crawled.stopped("max_pages 6 reached") == 15


def end_run(plain: PlainRun, run_id: str, *changed: str) -> None:
    """Judge and reschedule as the end of a run does, in which these pages changed."""
    rows = plain.index.ledger.documents.of_source(plain.source.name)
    docs = [row for row in rows if row.uri.endswith(changed)] if changed else []
    changes = [
        DocumentChange(
            kind=ChangeKind.CHANGED,
            old=None,
            new=LiveDocument(
                doc=row.doc or "", source=row.source, uri=row.uri, fragment_sha="f", content_hash="c"
            ),
        )
        for row in docs
    ]
    seen = plain.index.ledger.seen.of_run(plain.source.name, run_id)
    reschedule(plain.indexing, seen, Difference(base=0, changes=tuple(changes), documents={}))


def test_a_site_that_dates_every_page_again_each_day_loses_its_say(site: Site, tmp_path: Path) -> None:
    source, paths = source_of(site), [f"/p{number}" for number in range(6)]
    site.pages.update({path: page(path) for path in paths})
    for run, day in enumerate(("2026-02-01", "2026-02-02"), start=1):
        list_pages(site, {path: f"{day}T0{number}:00:00Z" for number, path in enumerate(paths)})
        crawled = crawl(tmp_path, source, run_id=f"run-{run}")
        assert pages_asked_for(site) == paths[::-1]
        with open_plain_run(tmp_path, source) as plain:
            end_run(plain, f"run-{run}", "/p3")
    list_pages(site, {path: f"2026-02-03T0{number}:00:00Z" for number, path in enumerate(paths)})

    crawled = crawl(tmp_path, source, run_id="run-3")

    assert pages_asked_for(site) == paths
    verdicts = {uri.removeprefix(site.origin): row.lastmod_held for uri, row in crawled.rows.items()}
    assert verdicts == {"/": None, "/p3": True, **dict.fromkeys(set(paths) - {"/p3"}, False)}
    assert {row.lastmod for row in crawled.rows.values()} == {None}


def test_a_true_claim_brings_a_page_to_the_front_and_an_old_one_does_not(site: Site, tmp_path: Path) -> None:
    source, paths = source_of(site), ["/a", "/b", "/c"]
    site.pages.update({path: page(path) for path in paths})
    list_pages(site, dict.fromkeys(paths, "2026-02-01"))
    crawl(tmp_path, source)
    with open_plain_run(tmp_path, source) as plain:
        end_run(plain, "run-1", *paths)
    pages_asked_for(site)
    list_pages(site, {"/a": "2026-02-01", "/b": "2026-02-01", "/c": "2026-02-09"})

    crawl(tmp_path, source, run_id="run-2")

    assert pages_asked_for(site) == ["/c", "/a", "/b"]


def test_a_date_that_has_not_come_yet_is_no_claim(site: Site, tmp_path: Path) -> None:
    tomorrow = (NOW + timedelta(days=1)).astimezone(UTC).isoformat()
    list_pages(site, {"/a": "2026-02-01", "/b": tomorrow})
    site.pages.update({"/a": page("a"), "/b": page("b")})
    crawled = crawl(tmp_path, source_of(site))
    assert pages_asked_for(site) == ["/a", "/b"]
    assert datetime.fromisoformat(crawled.rows[site.url("/a")].lastmod or "") < NOW
    assert crawled.rows[site.url("/b")].lastmod is None


def test_a_page_that_nothing_names_any_more_goes_only_by_its_own_answer(site: Site, tmp_path: Path) -> None:
    """The start page linked to it, and the sitemap listed it; then neither does, and it still answers."""
    source = source_of(site, recrawl=Recrawl(gone_after=GoneAfter(misses=2, hours=0)))
    site.pages.update({"/": page("Start", "/linked"), "/linked": page("Linked"), "/listed": page("Listed")})
    list_pages(site, {"/listed": None})
    crawl(tmp_path, source)
    site.pages["/"], site.pages["/sitemap.xml"] = page("Start"), Reply(b"", 404)
    site.log.clear()

    orphans = [site.url("/linked"), site.url("/listed")]
    rows = crawl(tmp_path, source, run_id="run-2").rows
    assert sorted(pages_asked_for(site)) == ["/linked", "/listed"]
    assert {rows[uri].state for uri in orphans} == {DocumentState.FETCHED}

    site.pages["/linked"] = Reply(b"no such page", 404)
    states = [
        [crawl(tmp_path, source, run_id=f"run-{run}").rows[uri].state for uri in orphans] for run in (3, 4)
    ]
    assert states == [
        [DocumentState.MISSING, DocumentState.FETCHED],
        [DocumentState.GONE, DocumentState.FETCHED],
    ]
