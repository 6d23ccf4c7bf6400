"""Citations, documents, runs and neighbourhoods in a real browser: by keyboard, on a phone, in the dark."""

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pymupdf
import pytest

from tests.fakes.axe import violations
from tests.fakes.chromium import Watched, chromium, watched_page
from tests.fakes.copies import copy_index
from tests.fakes.handbook import Handbook, serve_handbook, write_source
from tests.fakes.prefect_server import poll
from tests.fakes.running_service import served_pages
from tests.fakes.site_server import Reply
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server]

PDF = "/rules.pdf"
BEFORE, NOW = (
    "Lanterns hang at the east gate until midnight.",
    "Lanterns hang at the west gate until midnight.",
)
QUESTION = "Where do lanterns hang until midnight?"
RULES = (
    "<!doctype html><html lang=en><title>Rules of the house</title><style>p{{font-size:14pt}} "
    "h1{{break-before:page}}</style><p>Whoever stays the night reads these rules, signs the book and hangs "
    "the key on its hook before the bell has rung.</p><h1>Lanterns</h1><p>{lanterns}</p><p>The night porter "
    "counts them, and writes the number into the ledger of the lodge.</p><h1>Keys</h1><p>Keys are numbered "
    "from the cellar up, and none leaves the house in a pocket.</p></html>"
)


@dataclass(frozen=True)
class Walk:
    """A service over an index of two generations, a browser, the PDF as it is now, and its index."""

    origin: str
    browser: Any
    pdf: bytes
    index: Path
    source: Path
    handbook: Handbook


@pytest.fixture(scope="module")
def walk(sitegraph: Sitegraph, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    """The handbook with a PDF that Chromium printed; one sentence of it, and one of a page, was rewritten."""
    folder = tmp_path_factory.mktemp("opened")
    with serve_handbook(("Leases", "Guards")) as handbook, chromium() as browser:
        pdf = print_rules(browser, BEFORE)
        handbook.site.pages[PDF] = Reply(pdf, headers={"Content-Type": "application/pdf"})
        handbook.link("/guards.html", PDF, "the rules of the house")
        source, index = write_source(folder, handbook), folder / "index"
        assert sitegraph.run(source, index)["generation"] == 1
        pdf = print_rules(browser, NOW)
        handbook.site.pages[PDF] = Reply(pdf, headers={"Content-Type": "application/pdf"})
        handbook.edit(
            "/leases.html", "Losing Leases", "A lost lease is drawn anew by the keeper of the seal."
        )
        assert sitegraph.run(source, index)["generation"] == 2
        with served_pages(index) as origin:
            yield Walk(origin, browser, pdf, index, source, handbook)


def print_rules(browser: Any, lanterns: str) -> bytes:
    """The rules as a PDF of three pages."""
    page = browser.new_page()
    page.set_content(RULES.format(lanterns=lanterns))
    printed: bytes = page.pdf(format="A5")
    page.close()
    return printed


def tab_to(watched: Watched, meets: Callable[[str, str], bool]) -> None:
    """Press Tab until what has the focus meets; it is told by its words and where it leads."""
    for _ in range(150):
        watched.page.keyboard.press("Tab")
        words, leads = watched.page.evaluate(
            "[document.activeElement.textContent.trim(), document.activeElement.getAttribute('href') || '']"
        )
        if meets(words, leads):
            return
    raise AssertionError(f"not reached by Tab on {watched.page.url}")


def enter(watched: Watched) -> None:
    """Follow the link, or press the button, that has the focus."""
    with watched.page.expect_navigation():
        watched.page.keyboard.press("Enter")
    wait_for(watched.page, "main")


def assert_quiet(watched: Watched) -> None:
    """Hold that nothing went wrong in the page but what a busy machine could not answer in time."""
    assert [line for line in watched.trouble if "504" not in line] == []


def visit(page: Any, address: str, selector: str = "main") -> None:
    """Open a page that has *selector*."""
    page.goto(address)
    wait_for(page, selector)


def wait_for(page: Any, selector: str) -> None:
    """Ask again for what a busy machine could not answer, or draw, in time."""
    for _ in range(60):
        if "Timeout" not in page.title() and page.query_selector(selector) is not None:
            return
        page.reload()
    raise AssertionError(page.inner_text("main"))


@pytest.fixture(scope="module")
def paths(walk: Walk) -> dict[str, str]:
    """A page of each kind, found as a reader finds them."""
    with watched_page(walk.browser, java_script_enabled=False) as watched:
        page = watched.page
        visit(page, f"{walk.origin}/search?q=lanterns+hang+until+midnight&kind=pdf")
        cited = page.get_attribute("a.open >> nth=0", "href")
        visit(page, walk.origin + cited, ".page")
        before = page.get_attribute("ol.steps a[href^='/cite/'] >> nth=0", "href")
        document = page.get_attribute("main a[href^='/doc/'] >> nth=0", "href")
        near = page.get_attribute("main a[href^='/near/'] >> nth=0", "href")
        visit(page, f"{walk.origin}/search?q=a+lost+lease+is+drawn+anew&kind=html")
        html = page.get_attribute("a.open >> nth=0", "href")
        visit(page, walk.origin + html)
        html_document = page.get_attribute("main a[href^='/doc/'] >> nth=0", "href")
    return {
        "cite": cited,
        "before": before,
        "doc": document,
        "near": near,
        "html": html,
        "html_doc": html_document,
        "runs": "/runs",
    }


def test_from_a_question_to_what_changed_by_keyboard_alone(walk: Walk) -> None:
    with watched_page(walk.browser) as watched:
        page = watched.page
        visit(page, f"{walk.origin}/")
        page.keyboard.type(QUESTION)
        tab_to(watched, lambda words, _: words == "Answer")
        enter(watched)
        assert "west gate" in page.inner_text("main")
        tab_to(watched, lambda _, leads: leads.startswith("/cite/"))
        enter(watched)
        wait_for(page, ".page")
        assert page.inner_text("mark#passage").startswith(NOW)
        assert watched.is_in_sight("#passage")
        assert_box_is_around(page, walk.pdf, NOW)
        tab_to(watched, lambda words, _: words.startswith("what it said before generation 2"))
        enter(watched)
        assert page.inner_text(".diff del").strip() == "east"
        assert page.inner_text(".diff ins").strip() == "west"
        assert_quiet(watched)


def assert_box_is_around(page: Any, pdf: bytes, text: str) -> None:
    """Hold that the box that is drawn is where the PDF has the text, on a picture that is there."""
    picture = page.get_attribute(".page image", "href")
    number = int(re.search(r"/pages/(\d+)/", picture)[1])  # type: ignore[index]
    with pymupdf.open(stream=pdf) as document:
        (line,) = document[number - 1].search_for(text)
    box = {name: float(page.get_attribute(".page .cited", name)) for name in ("x", "y", "width", "height")}
    shown = pymupdf.Rect(box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"])
    assert pymupdf.Rect(shown.x0 - 2, shown.y0 - 2, shown.x1 + 2, shown.y1 + 2).contains(line)
    assert shown.height < 6 * line.height
    answer = page.request.get(page.url.partition("/cite/")[0] + picture)
    assert answer.status == 200
    assert pymupdf.Pixmap(answer.body()).width > 400


def test_pages_of_a_pdf_are_turned_and_made_larger_without_scripts(walk: Walk, paths: dict[str, str]) -> None:
    with watched_page(walk.browser, java_script_enabled=False) as watched:
        page = watched.page
        visit(page, walk.origin + paths["cite"], ".page")
        assert "Page 2 of 3" in page.inner_text("main")
        watched.follow("text=Next page")
        wait_for(page, ".page")
        assert "Keys are numbered" in page.inner_text(".words")
        assert page.query_selector(".page .cited") is None
        watched.follow("text=200 %")
        wait_for(page, ".page")
        assert float(page.get_attribute(".page", "width")) > 1000
        watched.follow("text=Back to page 2, which is cited")
        wait_for(page, ".page")
        assert page.query_selector(".page .cited") is not None


def test_a_document_shows_its_outline_its_links_and_its_history(walk: Walk, paths: dict[str, str]) -> None:
    with watched_page(walk.browser, java_script_enabled=False) as watched:
        page, found = watched.page, paths
        visit(page, walk.origin + found["doc"])
        said = page.inner_text("main")
        assert {"Lanterns", "Keys"} <= set(page.locator(".outline a").all_inner_texts())
        assert "the rules of the house" in said
        assert page.inner_text(".diff del").strip() == "east"
        visit(page, walk.origin + found["html_doc"])
        assert "fresh" in page.inner_text("main")
        assert "keeper of the seal" in page.inner_text(".revision >> nth=0")


def test_the_passage_of_a_page_opens_on_its_site_at_its_words(walk: Walk, paths: dict[str, str]) -> None:
    with watched_page(walk.browser) as watched:
        page = watched.page
        visit(page, walk.origin + paths["html"])
        assert "keeper of the seal" in page.inner_text("mark#passage")
        live = page.get_attribute("a.live", "href")
        assert "/leases.html#losing-leases" in live


def test_one_walks_from_node_to_node_over_the_picture(walk: Walk, paths: dict[str, str]) -> None:
    with watched_page(walk.browser) as watched:
        page = watched.page
        visit(page, walk.origin + paths["near"])
        before = page.url
        tab_to(watched, lambda _, leads: "/near/" in leads and "?" not in leads and leads not in page.url)
        assert page.evaluate("document.activeElement.closest('svg') !== null")
        enter(watched)
        assert page.url != before
        assert page.locator("ul.steps li").count() > 0
        assert_quiet(watched)


def test_runs_tell_what_each_generation_changed(walk: Walk) -> None:
    with watched_page(walk.browser, java_script_enabled=False) as watched:
        visit(watched.page, f"{walk.origin}/runs")
        said = watched.page.inner_text("main")
        assert "handbook" in said
        assert "2 replaced" in said
        assert watched.page.locator("section[aria-labelledby=generations] article").count() == 2


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (1280, "light"),
        (360, "dark"),
        pytest.param(1280, "dark", marks=pytest.mark.long),
        pytest.param(360, "light", marks=pytest.mark.long),
    ],
)
def test_axe_finds_nothing_wrong_and_a_phone_needs_not_scroll_sideways(
    walk: Walk, paths: dict[str, str], scheme: str, width: int
) -> None:
    with watched_page(walk.browser, width=width, color_scheme=scheme) as watched:
        for name, path in paths.items():
            visit(watched.page, walk.origin + path, ".page" if name == "cite" else "main")
            watched.open_details()
            assert violations(watched.page) == [], name
            assert not watched.is_wider_than_the_window(), name
        assert_quiet(watched)


def test_a_page_read_during_a_publish_is_of_one_generation(
    walk: Walk, paths: dict[str, str], sitegraph: Sitegraph, tmp_path: Path
) -> None:
    index, document = copy_index(walk.index, tmp_path / "index"), paths["html_doc"]
    walk.handbook.edit("/leases.html", "Losing Leases", "A lost lease is burnt at noon in the third yard.")
    seen: list[tuple[int, int, bool]] = []
    done = threading.Event()
    with served_pages(index) as origin:

        def read() -> None:
            while not done.is_set() or not seen or seen[-1][0] == 2:
                try:
                    asked = Request(origin + document, headers={"Accept": "text/html"})
                    text = urlopen(asked, timeout=120).read().decode()
                except HTTPError:  # too busy, or too slow
                    continue
                shown = int(re.findall(r"<span>Generation (\d+), as of", text)[0])
                newest = int(re.findall(r'<h3 id="g(\d+)">', text)[0])
                seen.append((shown, newest, "<ins>burnt" in text or "burnt at noon" in text))

        reader = threading.Thread(target=read)
        reader.start()
        try:
            poll(lambda: seen or None, timeout=120, what="a page before the publish", interval=0.05)
            assert sitegraph.run(walk.source, index)["generation"] == 3
        finally:
            done.set()
            reader.join(120)
    assert set(seen) == {(2, 2, False), (3, 3, True)}
