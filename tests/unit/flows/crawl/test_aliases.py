"""The other addresses of a page from run to run, of a real site on loopback."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.parser_pool import ParserPool
from schemas.changes import ChangeKind
from tests.fakes.plain_crawl import page
from tests.fakes.plain_run import PlainRun, crawl, open_plain_run, publish_ledger, source_of
from tests.fakes.site_server import Reply, Site, serve

WORDS = " ".join(f"subject-{number}" for number in range(40))


@pytest.fixture
def site() -> Iterator[Site]:
    with serve(Site({"/": page("start", "/a.html", "/long-copy.html")})) as site:
        site.pages |= dict.fromkeys(("/a.html", "/long-copy.html"), page(WORDS))
        yield site


def aliases(plain: PlainRun, site: Site) -> tuple[str, ...]:
    """The other addresses of /a.html as readers see it."""
    live = plain.index.ledger.generations.live(plain.index.current()).values()
    (found,) = (document.aliases for document in live if document.uri == site.url("/a.html"))
    return found


@pytest.mark.parametrize("status", [404, 410])
def test_a_copy_that_goes_while_its_page_is_edited_stays_an_address_of_the_page(
    site: Site, tmp_path: Path, parsers: ParserPool, status: int
) -> None:
    with open_plain_run(tmp_path, source_of(site), parsers=parsers) as plain:
        publish_ledger(plain, crawl(plain, "first"))
        assert aliases(plain, site) == (site.url("/long-copy.html"),)
        site.pages |= {"/a.html": page(f"edited {WORDS}"), "/long-copy.html": Reply(b"", status)}
        for number in (2, 3, 4):
            if (difference := crawl(plain, f"run {number}")).changes:
                publish_ledger(plain, difference)
            assert aliases(plain, site) == (site.url("/long-copy.html"),)


def test_a_copy_under_a_shorter_address_takes_over_only_when_the_page_is_gone(
    site: Site, tmp_path: Path, parsers: ParserPool
) -> None:
    del site.pages["/long-copy.html"]
    with open_plain_run(tmp_path, source_of(site), parsers=parsers) as plain:
        publish_ledger(plain, crawl(plain, "first"))
        site.pages |= {"/c": page(WORDS), "/": page("start", "/a.html", "/c")}
        came = crawl(plain, "second")
        publish_ledger(plain, came)
        assert {change.uri: change.kind for change in came.changes} == {
            site.url("/"): ChangeKind.CHANGED,
            site.url("/a.html"): ChangeKind.REFRESHED,
        }
        assert aliases(plain, site) == (site.url("/c"),)
        site.pages["/a.html"] = Reply(b"", 410)
        went = {change.uri: change for change in crawl(plain, "third").changes}
    assert went[site.url("/a.html")].successor == went[site.url("/c")].doc


def test_a_tiny_copy_costs_one_look_at_an_address_that_nobody_has(
    site: Site, tmp_path: Path, parsers: ParserPool
) -> None:
    site.pages |= dict.fromkeys(("/a.html", "/long-copy.html"), page("tiny"))
    with open_plain_run(tmp_path, source_of(site), parsers=parsers) as plain:
        publish_ledger(plain, crawl(plain, "first"))
        assert aliases(plain, site) == (site.url("/long-copy.html"),)
        crawl(plain, "second")
    asked = [ask.path for ask in site.log]
    assert sum(path.startswith("/sitegraph-") for path in asked) == 1
    assert asked.count("/long-copy.html") == 2
