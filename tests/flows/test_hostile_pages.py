"""A crawled site that attacks its readers, shown in a real browser: nothing runs, nothing is fetched."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest

from tests.fakes.chromium import Watched, chromium, watched_page
from tests.fakes.hostile_site import MARK, WORD, hostile_pages, payloads
from tests.fakes.running_service import served_pages
from tests.fakes.site_server import Site, serve
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server]

STEERING = "".join(map(chr, [*range(0x00, 0x09), 0x1B, 0x9B, 0x200E, 0x200F, 0x202E, 0x2066, 0xE0041]))
DOCUMENTS = 41


@dataclass(frozen=True)
class Shown:
    """A service over the crawled site, a browser, and a server that nobody may ask anything."""

    origin: str
    browser: Any
    elsewhere: Site


@pytest.fixture(scope="module")
def shown(sitegraph: Sitegraph, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    folder = tmp_path_factory.mktemp("hostile")
    with serve(Site()) as elsewhere, serve(Site(hostile_pages(elsewhere.origin))) as site:
        (folder / "hostile.yaml").write_text(
            f"name: hostile\nkind: web\nseeds: ['{site.url('/')}']\nallow_private: ['{site.address}']\n"
            "rate: {per_host_delay: 0}\n"
        )
        report = sitegraph.run(folder / "hostile.yaml", folder / "index")
        assert report["documents"]["added"] == DOCUMENTS, report
        with served_pages(folder / "index") as origin, chromium() as browser:
            elsewhere.log.clear()
            yield Shown(origin, browser, elsewhere)


def assert_harmless(watched: Watched, shown: Shown) -> None:
    """Hold that the page ran nothing of the site, tried to load nothing, and shows no steering characters."""
    watched.open_details()
    assert watched.page.evaluate(f"typeof window.{MARK}") == "undefined"
    assert watched.trouble == []  # an attempt that the policy stopped would be a line of the console
    assert {url for url in watched.asked if not url.startswith(f"{shown.origin}/")} == set()
    assert shown.elsewhere.log == []
    assert set(watched.page.inner_text("body")) & set(STEERING) == set()
    addresses = "all => all.map(one => new URL(one.href.baseVal ?? one.href, document.baseURI).protocol)"
    links = watched.page.eval_on_selector_all("a[href]", addresses)
    assert set(links) <= {"http:", "https:"}


def test_all_forty_pages_are_listed_as_text(shown: Shown) -> None:
    with watched_page(shown.browser) as watched:
        watched.page.goto(f"{shown.origin}/search?q={WORD}&n=50")
        titles = watched.page.eval_on_selector_all("section.doc h2", "all => all.map(one => one.innerText)")
        assert len(titles) >= 35
        assert any("<script>" in title for title in titles)
        for selector in (
            "main script",
            "main svg",
            "main img",
            "main iframe",
            "main style",
            "main form form",
        ):
            assert watched.page.query_selector(selector) is None
        assert_harmless(watched, shown)


def test_answers_quote_markup_as_text(shown: Shown) -> None:
    with watched_page(shown.browser) as watched:
        for question in (f"What does the {WORD} of page 7 say?", "Which script is in code 3?"):
            watched.page.goto(f"{shown.origin}/answer?q={quote(question)}")
            assert_harmless(watched, shown)


def test_what_is_typed_into_an_address_is_text_as_well(shown: Shown) -> None:
    with watched_page(shown.browser) as watched:
        for payload in payloads(shown.elsewhere.origin):
            text = quote(payload)
            # A kind that is none: the form is shown with all that was asked, and nothing is searched.
            watched.page.goto(f"{shown.origin}/search?q={text}&source={text}&doc_type={text}&kind={text}")
            assert watched.page.input_value("#q")
            errors = [one for one in watched.trouble if "422" in one]
            watched.trouble[:] = [one for one in watched.trouble if one not in errors]
            assert_harmless(watched, shown)
        watched.page.goto(f"{shown.origin}/{quote('<script>alert(1)</script>', safe='')}")
        watched.trouble.clear()
        assert_harmless(watched, shown)


def test_what_opens_from_the_list_shows_markup_as_text(shown: Shown) -> None:
    with watched_page(shown.browser) as watched:
        page = watched.page
        page.goto(f"{shown.origin}/search?q={WORD}&n=50")
        documents = page.eval_on_selector_all("section.doc h2 a", "all => all.map(one => one.pathname)")
        citations = page.eval_on_selector_all("a.open", "all => all.map(one => one.pathname)")
        assert len(documents) >= 35
        around = [path.replace("/doc/", "/near/") for path in documents]
        for path in (*documents, *citations[::2], *around[::2], "/runs"):
            page.goto(shown.origin + path)
            for selector in ("main script", "main img", "main iframe", "main style", "main form"):
                assert page.query_selector(selector) is None
            assert_harmless(watched, shown)
