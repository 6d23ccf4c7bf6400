"""Sites that make addresses without end, crawled for real: each is left in time, and the report says why."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from ingest.plan.scope import MAX_EQUAL_VARIANTS
from schemas.documents import DocumentState
from schemas.source import Scope
from tests.fakes.plain_crawl import Crawled, crawl, page
from tests.fakes.plain_run import source_of
from tests.fakes.site_server import Ask, Reply, Script, Site, serve


class AnsweringSite(Site):
    """A site whose pages are made as they are asked for, by what comes before the query."""

    def reply(self, ask: Ask) -> Reply:
        self.pages.setdefault(ask.path, self.pages.get(urlsplit(ask.path).path, Reply(b"", 404)))
        return super().reply(ask)


@pytest.fixture
def site() -> Iterator[Site]:
    with serve(AnsweringSite()) as served:
        yield served


def query(ask: Ask) -> dict[str, str]:
    """The query's values by name."""
    return {name: values[0] for name, values in parse_qs(urlsplit(ask.path).query).items()}


def crawl_site(site: Site, folder: Path, pages: dict[str, Script], **scope: int) -> Crawled:
    """Crawl a site of these pages."""
    site.pages.update(pages)
    return crawl(folder, source_of(site, scope=Scope(**scope)))  # type: ignore[arg-type]


def asked_for(site: Site, path: str) -> int:
    """How often a path was asked for, whatever the query."""
    return sum(urlsplit(asked).path == path for asked in site.paths())


def test_a_calendar_in_the_query_ends_twenty_links_deep(site: Site, tmp_path: Path) -> None:
    def month(ask: Ask) -> Reply:
        number = int(query(ask)["month"])
        return page(f"Month {number}", f"/cal?month={number + 1}")

    crawled = crawl_site(site, tmp_path, {"/": page("Start", "/cal?month=1"), "/cal": month})

    assert asked_for(site, "/cal") == 20
    assert crawled.stopped("a query or a numbered path more than 20 links deep") == 1


def test_a_calendar_in_the_path_ends_twenty_links_deep(site: Site, tmp_path: Path) -> None:
    months = {f"/cal/{2026 + n // 12}/{n % 12 + 1}": n for n in range(40)}
    pages: dict[str, Script] = {
        path: page(f"Month {n}", f"/cal/{2026 + (n + 1) // 12}/{(n + 1) % 12 + 1}")
        for path, n in months.items()
    }

    crawled = crawl_site(site, tmp_path, {"/": page("Start", "/cal/2026/1"), **pages})

    assert sum(path.startswith("/cal/") for path in site.paths()) == 20
    assert crawled.stopped("a query or a numbered path more than 20 links deep") == 1


@pytest.mark.long
def test_a_manual_of_a_hundred_pages_one_behind_the_other_is_read_to_its_end(
    site: Site, tmp_path: Path
) -> None:
    pages: dict[str, Script] = {
        f"/page-{n}.html": page(f"Page {n}", f"/page-{n + 1}.html") for n in range(99)
    }

    crawled = crawl_site(
        site, tmp_path, {"/": page("Start", "/page-0.html"), **pages, "/page-99.html": page("The end")}
    )

    assert len(crawled.rows) == 101


def test_a_calendar_that_leads_everywhere_ends_at_so_many_queries(site: Site, tmp_path: Path) -> None:
    def month(ask: Ask) -> Reply:
        number = int(query(ask)["month"])
        return page(f"Month {number}", *(f"/cal?month={number + step}" for step in (-12, -1, 1, 12, 120)))

    pages: dict[str, Script] = {"/": page("Start", "/cal?month=1"), "/cal": month}
    crawled = crawl_site(site, tmp_path, pages, max_queries_per_path=30)

    assert asked_for(site, "/cal") == 30
    assert crawled.stopped("max_queries_per_path 30 reached") > 30


def test_facets_end_at_as_many_queries_as_the_source_file_says(site: Site, tmp_path: Path) -> None:
    def shelf(ask: Ask) -> Reply:
        chosen = urlsplit(ask.path).query
        facets = ("red", "blue", "small", "large", "new", "used")
        return page(f"Shelf {chosen}", *(f"/shelf?{chosen}&{facet}=1" for facet in facets))

    pages: dict[str, Script] = {"/": page("Start", "/shelf?all", "/other?a=1"), "/other": page("Other")}
    crawled = crawl_site(site, tmp_path, {**pages, "/shelf": shelf}, max_queries_per_path=12)

    assert asked_for(site, "/shelf") == 12
    assert asked_for(site, "/other") == 1
    assert crawled.stopped("max_queries_per_path 12 reached") > 12


def test_variants_with_equal_content_are_left_after_ten_in_a_row(site: Site, tmp_path: Path) -> None:
    variants = [f"/list?view={number:02}" for number in range(30)]
    stories = [f"/story?id={number:02}" for number in range(25)]
    pages = {
        "/": page("Start", *variants, *stories),
        "/list": page("The same list"),
        "/story": lambda ask: page(f"Story {query(ask)['id']}"),
    }

    crawled = crawl_site(site, tmp_path, pages)

    reason = "10 query variants in a row with equal content"
    assert asked_for(site, "/list") == MAX_EQUAL_VARIANTS
    assert asked_for(site, "/story") == 25
    assert crawled.stopped(reason) == 20
    left = [row for row in crawled.rows.values() if row.state is DocumentState.OUT_OF_SCOPE]
    assert {row.reason for row in left} == {reason}
    assert len(left) == 20


def test_variants_that_were_left_stay_left_in_the_next_run(site: Site, tmp_path: Path) -> None:
    variants = [f"/list?view={number:02}" for number in range(30)]
    pages: dict[str, Script] = {"/": page("Start", *variants), "/list": page("The same list")}
    crawl_site(site, tmp_path, pages)
    site.log.clear()

    crawl(tmp_path, source_of(site), run_id="run-2")

    assert asked_for(site, "/list") == MAX_EQUAL_VARIANTS


def test_a_session_id_without_which_the_page_is_the_same_is_dropped(site: Site, tmp_path: Path) -> None:
    visits = iter(range(10_000))

    def with_session(name: str, *links: str) -> Script:
        return lambda ask: page(name, *(f"{link}?PHPSESSID={next(visits):08x}" for link in links))

    pages = {
        "/": with_session("Start", "/a", "/b"),
        "/a": with_session("A", "/a", "/b", "/"),
        "/b": with_session("B", "/a", "/b", "/"),
    }

    crawled = crawl_site(site, tmp_path, pages)

    assert {"/", "/a", "/b"} <= {urlsplit(uri).path for uri in crawled.rows if "?" not in uri}
    assert crawled.stopped("session id without which the page is the same") > 0
    assert max(asked_for(site, path) for path in ("/a", "/b")) < MAX_EQUAL_VARIANTS
    assert len(site.paths()) < 30


def test_a_name_that_only_looks_like_a_session_id_is_kept(site: Site, tmp_path: Path) -> None:
    stories = [f"/story?sid={number}" for number in range(15)]

    def story(ask: Ask) -> Reply:
        return page(f"Story {query(ask).get('sid', 'index')}")

    crawled = crawl_site(site, tmp_path, {"/": page("Start", *stories), "/story": story})

    assert asked_for(site, "/story") == 16
    assert crawled.problems == {}


def test_a_path_that_repeats_itself_is_not_followed(site: Site, tmp_path: Path) -> None:
    class Relative(Site):
        def reply(self, ask: Ask) -> Reply:
            self.pages.setdefault(ask.path, page(f"Page {ask.path}", "a/"))
            return super().reply(ask)

    with serve(Relative()) as relative:
        crawled = crawl(tmp_path, source_of(relative))
        asked = [path for path in relative.paths() if "." not in path]
        assert asked == ["/", "/a/", "/a/a/", "/a/a/a/"]
    assert crawled.stopped("a path segment more than 3 times") == 1


def test_a_path_that_grows_is_not_followed_for_ever(site: Site, tmp_path: Path) -> None:
    class Growing(Site):
        def reply(self, ask: Ask) -> Reply:
            depth = ask.path.count("/")
            self.pages.setdefault(ask.path, page(f"Page {ask.path}", f"level-{depth}/"))
            return super().reply(ask)

    with serve(Growing()) as growing:
        crawled = crawl(tmp_path, source_of(growing, scope=Scope(max_depth=1000)))
    assert len(crawled.rows) == 21
    assert crawled.stopped("more than 20 path segments") == 1


def test_a_redirect_ring_is_walked_once_and_told(site: Site, tmp_path: Path) -> None:
    ring = {f"/r{n}": Reply(b"", 302, {"Location": f"/r{(n + 1) % 3}"}) for n in range(3)}

    crawled = crawl_site(site, tmp_path, {"/": page("Start", "/r0"), **ring})

    assert [asked_for(site, f"/r{n}") for n in range(3)] == [1, 1, 1]
    assert crawled.stopped("redirects lead back to where they began") == 3


def test_redirects_to_ever_new_sessions_end(site: Site, tmp_path: Path) -> None:
    visits = iter(range(10_000))

    def elsewhere(ask: Ask) -> Reply:
        return Reply(b"", 302, {"Location": f"/in?visit={next(visits)}"})

    crawled = crawl_site(site, tmp_path, {"/": page("Start", "/in"), "/in": elsewhere})

    assert asked_for(site, "/in") == 11
    assert crawled.stopped("more than 10 redirects in a row") == 1


def test_what_finds_no_room_is_told_once_with_its_number(site: Site, tmp_path: Path) -> None:
    """Three pages link to the same forty documents, which is one reason and not three."""
    links = [f"/p{number:02}" for number in range(40)]
    hubs = {f"/hub{number}": page(f"Hub {number}", *links) for number in range(3)}

    crawled = crawl_site(site, tmp_path, {"/": page("Start", *hubs), **hubs}, max_pages=10)

    assert len(crawled.rows) == 10
    assert crawled.stopped("max_pages 10 reached") == 34
    assert [url for reason, url in crawled.problems.items() if "max_pages" in reason] == [site.url("/p06")]

    resumed = crawl(tmp_path, source_of(site, scope=Scope(max_pages=10)))  # under the same run
    assert resumed.problems == crawled.problems


def test_a_host_has_a_budget_of_its_own(site: Site, tmp_path: Path) -> None:
    with serve(Site({f"/q{n}": page(f"Q {n}") for n in range(5)})) as other:
        links = [*(f"/p{n}" for n in range(20)), *(other.url(f"/q{n}") for n in range(5))]
        site.pages.update({"/": page("Start", *links), **{f"/p{n}": page(f"P {n}") for n in range(20)}})
        scope = Scope(include=("http://127.0.0.1:*",), max_pages_per_host=6)
        source = replace(source_of(site, scope=scope), allow_private=(site.address, other.address))
        crawled = crawl(tmp_path, source)
    assert sum(uri.startswith(site.url("/")) for uri in crawled.rows) == 6
    assert sum(uri.startswith(other.url("/")) for uri in crawled.rows) == 5
    assert crawled.stopped("max_pages_per_host 6 reached") == 15


def test_seeds_are_never_left_for_being_alike(site: Site, tmp_path: Path) -> None:
    site.pages.update({"/": page("Start"), "/list": page("The same list")})
    seeds = tuple(site.url(f"/list?view={number:02}") for number in range(25))
    crawled = crawl(tmp_path, replace(source_of(site, scope=Scope(max_queries_per_path=5)), seeds=seeds))
    assert asked_for(site, "/list") == 25
    assert crawled.problems == {}
