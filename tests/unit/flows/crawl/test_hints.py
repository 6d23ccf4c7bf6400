"""What pages say of themselves, in a crawl: stubs lead on, hints add documents, nofollow adds none."""

from pathlib import Path

from ingest.plan.frontier import STUB_WORDS
from schemas.documents import DocumentState
from schemas.source import Scope
from tests.fakes.plain_crawl import crawl, page
from tests.fakes.plain_run import source_of
from tests.fakes.site_server import Reply, Site, with_validators

PROSE = "Whoever needs a lease asks the keeper first and signs the book on the shelf beside the door. " * 3


def refreshing(target: str, text: str = "Moved.") -> Reply:
    """A page that leads on at once."""
    return page(text, head=f'<meta http-equiv="refresh" content="0; url={target}">')


def test_a_stub_is_a_redirect_and_its_target_a_document_at_the_same_depth(site: Site, tmp_path: Path) -> None:
    site.pages.update({"/": page("Start", "/old"), "/old": refreshing("/new"), "/new": page(PROSE)})
    rows = crawl(tmp_path, source_of(site)).rows
    old, new = rows[site.url("/old")], rows[site.url("/new")]
    assert (old.state, old.location, old.reason) == (
        DocumentState.REDIRECTED,
        site.url("/new"),
        "meta refresh",
    )
    assert (new.state, new.depth, new.hops) == (DocumentState.FETCHED, old.depth, 1)


def test_a_stub_stays_a_redirect_when_it_did_not_change(site: Site, tmp_path: Path) -> None:
    stub = with_validators(refreshing("/new").body, etag='"1"')
    site.pages.update({"/": page("Start", "/old"), "/old": stub, "/new": page(PROSE)})
    crawl(tmp_path, source_of(site))
    old = crawl(tmp_path, source_of(site), run_id="run-2").rows[site.url("/old")]
    assert (old.state, old.location, old.http_status) == (DocumentState.REDIRECTED, site.url("/new"), 304)


def test_a_stub_that_becomes_a_page_is_read(site: Site, tmp_path: Path) -> None:
    site.pages.update({"/": page("Start", "/old"), "/old": refreshing("/new"), "/new": page(PROSE)})
    crawl(tmp_path, source_of(site))
    site.pages["/old"] = page(PROSE)
    old = crawl(tmp_path, source_of(site), run_id="run-2").rows[site.url("/old")]
    assert (old.state, old.location, old.refresh) == (DocumentState.FETCHED, None, None)


def test_a_page_to_read_is_content_though_it_leads_on(site: Site, tmp_path: Path) -> None:
    assert len(PROSE.split()) >= STUB_WORDS
    site.pages.update({"/": page("Start", "/a"), "/a": refreshing("/b", PROSE), "/b": page(PROSE)})
    rows = crawl(tmp_path, source_of(site)).rows
    assert {rows[site.url(path)].state for path in ("/a", "/b")} == {DocumentState.FETCHED}


def test_stubs_that_lead_in_a_ring_or_away_are_told(site: Site, tmp_path: Path) -> None:
    away = refreshing("https://elsewhere.example/")
    ring = {"/a": refreshing("/b"), "/b": refreshing("/a")}
    site.pages.update({"/": page("Start", "/a", "/c"), **ring, "/c": away})
    crawled = crawl(tmp_path, source_of(site))
    assert crawled.stopped("redirects lead back to where they began") == 2
    assert crawled.problems["redirects out of scope to https://elsewhere.example/"] == site.url("/c")


def test_translations_and_canonical_pages_are_looked_at_if_they_are_in_scope(
    site: Site, tmp_path: Path
) -> None:
    head = (
        '<link rel="canonical" href="/own"><link rel="alternate" hreflang="de" href="/de">'
        '<link rel="alternate" hreflang="fr" href="/blog/fr">'
    )
    pages = {"/": page("Start", "/print"), "/print": page("Same text", head=head)}
    site.pages.update({**pages, "/own": page("Same text"), "/de": page("Gleicher Text")})
    rows = crawl(tmp_path, source_of(site, scope=Scope(exclude=("*/blog/*",)))).rows
    assert {uri.removeprefix(site.origin) for uri in rows} == {"/", "/print", "/own", "/de"}
    assert rows[site.url("/print")].canonical == site.url("/own")
    assert rows[site.url("/own")].canonical is None


def test_links_of_a_page_that_says_nofollow_lead_nowhere(site: Site, tmp_path: Path) -> None:
    listing = Reply(page("List", "/a").body, headers={"X-Robots-Tag": "otherbot: none, sitegraph: nofollow"})
    site.pages.update({"/": page("Start", "/list"), "/list": listing, "/a": page("A")})
    assert site.url("/a") not in crawl(tmp_path, source_of(site)).rows


def test_directives_for_the_sources_own_user_agent_count(site: Site, tmp_path: Path) -> None:
    meta = '<meta name="acmebot" content="nofollow">'
    site.pages.update({"/": page("Start", "/a", head=meta), "/a": page("A")})
    acme = source_of(site, user_agent="AcmeBot/2.0 (+mailto:owner@example.org)")
    assert len(crawl(tmp_path / "acme", acme).rows) == 1
    assert len(crawl(tmp_path / "usual", source_of(site)).rows) == 2
