"""The pages of `serve` as people use them: by keyboard, on a phone, in the dark, without scripts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from retrieval.learning.usage_log import log_folder
from tests.fakes.axe import violations
from tests.fakes.chromium import chromium, watched_page
from tests.fakes.running_service import served_pages
from tests.fakes.site_server import Reply, Site, serve

pytestmark = [pytest.mark.system, pytest.mark.server]

FIRST_PAGE_BYTES = 50_000
PAGES = ("/", "/search?q=night+porter", "/answer?q=What+does+the+night+porter+do%3F", "/nowhere")
VAIN = "/answer?q=Who+bakes+zabaglione+on+Saturn%3F"


@dataclass(frozen=True)
class Shown:
    """A service over the handbook, and a browser."""

    origin: str
    browser: Any
    index: Path

    def logged(self) -> int:
        """How many questions are in the usage log."""
        log = log_folder(self.index) / "queries.jsonl"
        return len(log.read_text().splitlines()) if log.exists() else 0


@pytest.fixture(scope="module")
def shown(first_index: Path) -> Iterator[Shown]:
    with served_pages(first_index) as origin, chromium() as browser:
        yield Shown(origin, browser, first_index)


def test_search_is_done_with_the_keyboard_alone(shown: Shown) -> None:
    with watched_page(shown.browser) as watched:
        page, keys = watched.page, watched.page.keyboard
        page.goto(f"{shown.origin}/answer?q=porter")
        page.evaluate("document.activeElement.blur()")
        keys.press("Tab")
        assert watched.focused() == "Skip to the content"
        keys.press("/")
        assert watched.focused() == "q"
        page.goto(f"{shown.origin}/")
        assert watched.focused() == "q"
        keys.type("night porter")
        keys.press("Enter")
        page.wait_for_url("**/search?q=night+porter")
        hits = page.eval_on_selector_all("a.open", "all => all.map(one => one.innerText.trim())")
        assert len(hits) > 2
        for pressed, focused in (("ArrowDown", hits[0]), ("ArrowDown", hits[1]), ("ArrowUp", hits[0])):
            keys.press(pressed)
            assert watched.focused() == focused
        keys.press("/")
        assert watched.focused() == "q"
        page.goto(f"{shown.origin}/answer?q=What+does+the+night+porter+do%3F")
        keys.press("ArrowDown")
        assert re.match(r"S\d", watched.focused())
        page.goto(page.url.replace("/answer", "/search"))
        hits = page.eval_on_selector_all("a.open", "all => all.map(one => one.innerText.trim())")
        keys.press("ArrowDown")
        assert watched.focused() == hits[0]
        keys.press("ArrowUp")
        assert watched.focused() == "q"
        keys.press("ArrowDown")
        target = page.evaluate("document.activeElement.getAttribute('href')")
        assert target.startswith("/cite/chunk:")
        keys.press("Enter")
        page.wait_for_url(f"**{target}")
        assert watched.is_in_sight("#passage")


def test_the_first_page_tells_what_the_index_holds_and_leads_to_it(shown: Shown) -> None:
    with watched_page(shown.browser, java_script_enabled=False) as watched:
        page = watched.page
        page.goto(f"{shown.origin}/")
        assert re.search(r"handbook \d+ passages, last looked at 20\d\d-", page.inner_text("main"))
        watched.follow("h2 + ul a")
        assert page.locator("section.doc").count() >= 1


@pytest.mark.parametrize("width", [1280, 390])
def test_a_citation_opens_at_its_passage_and_no_table_is_cut(shown: Shown, width: int) -> None:
    with watched_page(shown.browser, width=width) as watched:
        page = watched.page
        page.goto(f"{shown.origin}/search?q=night+porter")
        for number in range(min(4, page.locator("a.open").count())):
            watched.follow("a.open", number)
            assert watched.is_in_sight("#passage"), page.url
            page.go_back()
        page.goto(f"{shown.origin}/runs")
        assert page.locator("article h3").count() >= 3
        assert watched.cut() == []


def test_results_come_while_one_types_and_are_not_logged(shown: Shown) -> None:
    before = shown.logged()
    with watched_page(shown.browser) as watched:
        watched.page.goto(f"{shown.origin}/")
        watched.page.keyboard.type("night porter")
        watched.page.wait_for_selector("section.doc")
        assert watched.page.url == f"{shown.origin}/"
        assert watched.trouble == []
    assert shown.logged() == before


def test_a_page_of_another_site_has_nothing_asked_and_its_link_opens_unlogged(shown: Shown) -> None:
    before, question = shown.logged(), f"{shown.origin}/search?q=night+porter"
    frame = f'<iframe src="{question}"></iframe><img src="{question}"><a href="{question}">Porter</a>'
    with (
        serve(Site({"/": Reply(frame.encode())}), host="127.0.0.2") as site,
        watched_page(shown.browser) as watched,
    ):
        page, statuses = watched.page, list[int]()
        page.on("response", lambda got: statuses.extend([got.status] if got.url == question else ()))
        page.goto(site.url("/"), wait_until="load")
        page.evaluate(
            "url => fetch(url, {mode: 'no-cors', headers: {Accept: 'text/html'}}).catch(String)", question
        )
        assert set(statuses) == {403}  # of some refusals Chromium says no more than that they failed
        assert shown.logged() == before
        page.click("text=Porter")
        page.wait_for_selector("section.doc")
        assert statuses[-1] == 200
    assert shown.logged() == before


def test_everything_works_without_scripts(shown: Shown) -> None:
    with watched_page(shown.browser, java_script_enabled=False) as watched:
        page = watched.page
        page.goto(f"{shown.origin}/")
        page.fill("#q", "what does the night porter do")
        watched.follow("button >> text=Search")
        assert page.locator("section.doc").count() > 1
        page.locator("details.why summary").first.click()
        assert page.locator("details.why table").first.is_visible()
        watched.follow("button >> text=Answer")
        assert page.locator(".said .text").count() >= 1
        page.locator(".beside summary").first.click()
        assert page.locator(".beside a[href^='/cite/']").first.is_visible()


def test_a_search_is_narrowed_by_the_form(shown: Shown) -> None:
    with watched_page(shown.browser) as watched:
        page = watched.page
        page.goto(f"{shown.origin}/search?q=night+porter")
        page.click(".filters summary")
        assert page.eval_on_selector_all("select[name=kind] option", "all => all.map(one => one.value)") == [
            "",
            "html",
        ]
        page.fill("input[name=until]", "1999-12-31")
        page.click("button >> text=Search")
        page.wait_for_url("**until=1999-12-31**")
        assert "Nothing was found under these filters" in page.inner_text("main")
        watched.follow("a >> text=Search without them")
        assert page.locator("section.doc").count() > 1


def test_what_is_not_found_says_what_was_searched(shown: Shown) -> None:
    with watched_page(shown.browser) as watched:
        watched.page.goto(shown.origin + VAIN)
        said = watched.page.inner_text("main")
        assert "Not found" in said
        assert "zabaglione" in said.partition("These words stand nowhere in it:")[2].splitlines()[0]
        assert "What the index may lack" in said
        assert "Nearest" in said


@pytest.mark.parametrize("path", [*PAGES, VAIN])
def test_a_phone_needs_not_scroll_sideways(shown: Shown, path: str) -> None:
    with watched_page(shown.browser, width=360) as watched:
        watched.page.goto(shown.origin + path)
        watched.open_details()
        assert not watched.is_wider_than_the_window()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong_in_light_and_in_the_dark(shown: Shown, scheme: str) -> None:
    with watched_page(shown.browser, color_scheme=scheme) as watched:
        page = watched.page
        for path in (*PAGES, VAIN):
            page.goto(shown.origin + path)
            watched.open_details()
            assert violations(page) == [], path
        back = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (back == "rgb(255, 255, 255)") is (scheme == "light")


def test_the_first_page_weighs_less_than_50_kb_with_all_that_it_loads(shown: Shown) -> None:
    for path in PAGES[:3]:
        with watched_page(shown.browser) as watched:
            watched.page.goto(shown.origin + path, wait_until="networkidle")
            assert len(watched.answers) >= 3
            assert all(watched.answers.values())
            assert sum(watched.answers.values()) < FIRST_PAGE_BYTES, watched.answers


def test_axe_finds_what_is_wrong(shown: Shown) -> None:
    with watched_page(shown.browser) as watched:
        watched.page.set_content("<title>t</title><main><h1>h</h1><input></main>")
        assert [one.partition(":")[0] for one in violations(watched.page)] == ["html-has-lang", "label"]


def test_one_signs_in_by_keyboard_comes_to_what_was_asked_and_signs_out(shown: Shown) -> None:
    token = "a token of this test"
    with (
        served_pages(shown.index, SITEGRAPH_SERVE_TOKEN=token) as origin,
        watched_page(shown.browser, width=360) as watched,
    ):
        page, keys = watched.page, watched.page.keyboard
        page.goto(f"{origin}/search?q=night+porter")
        assert watched.focused() == "token"
        assert violations(page) == []
        keys.type("guess")
        keys.press("Enter")
        page.wait_for_selector("[role=alert]")
        keys.type(token)
        keys.press("Enter")
        page.wait_for_selector("section.doc")
        assert page.url == f"{origin}/search?q=night+porter"
        assert page.evaluate("document.cookie") == ""
        assert not watched.is_wider_than_the_window()
        page.click("button >> text=Sign out")
        page.wait_for_url("**/login")
        page.goto(f"{origin}/")
        assert page.locator("#token").count() == 1
