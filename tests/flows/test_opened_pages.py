"""Citations, documents, runs and neighbourhoods in a real browser: by keyboard, on a phone, in the dark."""

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pymupdf
import pytest

from tests.fakes.axe import violations
from tests.fakes.chromium import Watched, chromium, watched_page
from tests.fakes.copies import copy_index
from tests.fakes.handbook import Handbook, serve_handbook, write_source
from tests.fakes.served_pages import served_pages
from tests.fakes.site_server import Reply
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = pytest.mark.server

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


def open_drawn(page: Any, address: str) -> None:
    """Open a page with a picture; a machine too busy to draw it in time is asked again."""
    page.goto(address)
    for _ in range(20):
        if page.query_selector(".page") is not None:
            return
        page.goto(address)
    raise AssertionError(page.inner_text("main"))


def paths(walk: Walk) -> dict[str, str]:
    """A page of each kind, found as a reader finds them."""
    with watched_page(walk.browser, java_script_enabled=False) as watched:
        page = watched.page
        page.goto(f"{walk.origin}/search?q=lanterns+hang+until+midnight&kind=pdf")
        cited = page.get_attribute("a.open >> nth=0", "href")
        page.goto(walk.origin + cited)
        before = page.get_attribute("ol.steps a[href^='/cite/'] >> nth=0", "href")
        document = page.get_attribute("main a[href^='/doc/'] >> nth=0", "href")
        near = page.get_attribute("main a[href^='/near/'] >> nth=0", "href")
        page.goto(f"{walk.origin}/search?q=a+lost+lease+is+drawn+anew&kind=html")
        html = page.get_attribute("a.open >> nth=0", "href")
        page.goto(walk.origin + html)
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
        page.goto(f"{walk.origin}/")
        page.keyboard.type(QUESTION)
        tab_to(watched, lambda words, _: words == "Answer")
        enter(watched)
        assert "west gate" in page.inner_text("main")
        tab_to(watched, lambda _, leads: leads.startswith("/cite/"))
        enter(watched)
        assert page.inner_text("mark#passage").startswith(NOW)
        if page.query_selector(".page") is None:
            open_drawn(page, page.url)
        assert_box_is_around(page, walk.pdf, NOW)
        tab_to(watched, lambda words, _: words.startswith("what it said before generation 2"))
        enter(watched)
        assert page.inner_text(".diff del").strip() == "east"
        assert page.inner_text(".diff ins").strip() == "west"
        assert watched.trouble == []


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


def test_pages_of_a_pdf_are_turned_and_made_larger_without_scripts(walk: Walk) -> None:
    with watched_page(walk.browser, java_script_enabled=False) as watched:
        page = watched.page
        open_drawn(page, walk.origin + paths(walk)["cite"])
        assert "Page 2 of 3" in page.inner_text("main")
        page.click("text=Next page")
        assert "Keys are numbered" in page.inner_text(".words")
        assert page.query_selector(".page .cited") is None
        open_drawn(page, walk.origin + str(page.get_attribute("a >> text=200 %", "href")))
        assert float(page.get_attribute(".page", "width")) > 1000
        open_drawn(page, walk.origin + str(page.get_attribute("a >> text=Back to page 2", "href")))
        assert page.query_selector(".page .cited") is not None


def test_a_document_shows_its_outline_its_links_and_its_history(walk: Walk) -> None:
    with watched_page(walk.browser, java_script_enabled=False) as watched:
        page, found = watched.page, paths(walk)
        page.goto(walk.origin + found["doc"])
        said = page.inner_text("main")
        assert {"Lanterns", "Keys"} <= set(page.locator(".outline a").all_inner_texts())
        assert "the rules of the house" in said
        assert page.inner_text(".diff del").strip() == "east"
        page.goto(walk.origin + found["html_doc"])
        assert "fresh" in page.inner_text("main")
        assert "keeper of the seal" in page.inner_text(".revision >> nth=0")


def test_the_passage_of_a_page_opens_on_its_site_at_its_words(walk: Walk) -> None:
    with watched_page(walk.browser) as watched:
        page = watched.page
        page.goto(walk.origin + paths(walk)["html"])
        assert "keeper of the seal" in page.inner_text("mark#passage")
        live = page.get_attribute("a.live", "href")
        assert "/leases.html#losing-leases" in live


def test_one_walks_from_node_to_node_over_the_picture(walk: Walk) -> None:
    with watched_page(walk.browser) as watched:
        page = watched.page
        page.goto(walk.origin + paths(walk)["near"])
        before = page.url
        tab_to(watched, lambda _, leads: "/near/" in leads and "?" not in leads and leads not in page.url)
        assert page.evaluate("document.activeElement.closest('svg') !== null")
        enter(watched)
        assert page.url != before
        assert page.locator("ul.steps li").count() > 0
        assert watched.trouble == []


def test_runs_tell_what_each_generation_changed(walk: Walk) -> None:
    with watched_page(walk.browser, java_script_enabled=False) as watched:
        watched.page.goto(f"{walk.origin}/runs")
        said = watched.page.inner_text("main")
        assert "handbook" in said
        assert "2 replaced" in said
        assert watched.page.locator("main table").last.locator("tbody tr").count() == 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_axe_finds_nothing_wrong_and_a_phone_needs_not_scroll_sideways(
    walk: Walk, scheme: str, width: int
) -> None:
    with watched_page(walk.browser, width=width, color_scheme=scheme) as watched:
        for name, path in paths(walk).items():
            watched.page.goto(walk.origin + path, wait_until="networkidle")
            watched.open_details()
            assert violations(watched.page) == [], name
            assert not watched.is_wider_than_the_window(), name
        assert watched.trouble == []


def test_a_page_read_during_a_publish_is_of_one_generation(
    walk: Walk, sitegraph: Sitegraph, tmp_path: Path
) -> None:
    index, document = copy_index(walk.index, tmp_path / "index"), paths(walk)["html_doc"]
    walk.handbook.edit("/leases.html", "Losing Leases", "A lost lease is burnt at noon in the third yard.")
    seen: list[tuple[int, int, bool]] = []
    done = threading.Event()
    with served_pages(index) as origin:

        def read() -> None:
            while not done.is_set() or seen[-1][0] == 2:
                text = urlopen(Request(origin + document, headers={"Accept": "text/html"})).read().decode()
                shown = int(re.findall(r"<span>Generation (\d+), as of", text)[0])
                newest = int(re.findall(r'<h3 id="g(\d+)">', text)[0])
                seen.append((shown, newest, "<ins>burnt" in text or "burnt at noon" in text))

        reader = threading.Thread(target=read)
        reader.start()
        try:
            assert sitegraph.run(walk.source, index)["generation"] == 3
        finally:
            done.set()
            reader.join(120)
    assert set(seen) == {(2, 2, False), (3, 3, True)}
