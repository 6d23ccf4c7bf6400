"""Where no id stands at a passage, its words do: unique on the page, and found by a real browser."""

import shutil
from pathlib import Path
from urllib.parse import unquote

import pytest

from schemas.fragment import GraphFragment
from sitegraph.cli.demo_script import serve_folder
from tests.fakes.pages import parse_page

GOLDEN = Path(__file__).parents[4] / "golden" / "documents" / "html" / "places-without-ids.html"
FILLER = " ".join(f"filling{number}" for number in range(300))


def fragments_of(page: GraphFragment) -> list[str | None]:
    return [None if one.text_fragment is None else unquote(one.text_fragment) for one in page.chunks]


def test_a_passage_whose_id_stands_at_its_beginning_has_none() -> None:
    page = parse_page("<main><h2 id=a>A</h2><p>The pump stands below deck.</p></main>")
    assert [chunk.fragment for chunk in page.chunks] == ["a"]
    assert fragments_of(page) == [None]


def test_a_passage_under_a_heading_without_an_id_is_named_by_as_few_words_as_are_nowhere_else() -> None:
    page = parse_page(
        "<main><h2>A</h2><p>The pump stands below deck.</p>"
        "<h2>B</h2><p>The pump stands below the bunk.</p></main>"
    )
    assert fragments_of(page) == [":~:text=The pump stands below deck", ":~:text=The pump stands below the"]


def test_a_later_part_of_a_section_goes_to_the_id_and_then_to_its_words() -> None:
    page = parse_page(f"<main><h2 id=a>A</h2><p>{FILLER}</p><p>The pump stands below deck.</p></main>")
    last = page.chunks[-1]
    assert last.fragment == "a"
    assert last.text_fragment is not None


def test_what_is_syntax_of_a_directive_is_percent_encoded() -> None:
    page = parse_page("<main><p>Rope, twine &amp; a top-rope: 100% hemp.</p></main>")
    assert page.chunks[0].text_fragment == ":~:text=Rope%2C%20twine%20%26%20a%20top"


def test_equal_passages_are_told_apart_by_what_stands_before_them() -> None:
    same = "<p>Look at it every day.</p>"
    page = parse_page(f"<main><h3>Bow</h3>{same}<h3>Stern</h3>{same}</main>")
    assert fragments_of(page) == [
        ":~:text=Bow-,Look at it every day",
        ":~:text=Stern-,Look at it every day",
    ]


def test_words_of_the_navigation_are_words_of_the_page() -> None:
    page = parse_page(
        "<nav><p>Look at it every day.</p></nav><main><h2>Bow</h2><p>Look at it every day.</p></main>"
    )
    assert fragments_of(page) == [":~:text=Bow-,Look at it every day"]


def test_a_directive_ends_where_a_word_ends_for_browsers() -> None:
    page = parse_page("<main><p>Take pump version 2.5.1 of the maker and no other.</p></main>")
    assert fragments_of(page) == [":~:text=Take pump version 2.5.1"]


def test_words_across_a_picture_or_a_line_end_are_not_named() -> None:
    page = parse_page(
        "<main><h2>A</h2><p>Turn it <img src=x alt=left> twice and wait for the lamp.</p></main>"
    )
    assert fragments_of(page) == [":~:text=twice and wait for"]


def test_a_page_with_a_secret_names_no_words_of_it() -> None:
    page = parse_page("<main><p>The key is AKIAIOSFODNN7EXAMPLQ, which nobody may know.</p></main>")
    assert page.secrets
    assert fragments_of(page) == [None]


def test_every_entry_of_a_long_list_without_ids_can_be_opened() -> None:
    page = parse_page(GOLDEN.read_bytes())
    lacking = [c for c in page.chunks if c.fragment is None or c.fragment not in c.text]
    assert len(page.chunks) > 5
    assert all(c.text_fragment or c.fragment == "duties" for c in lacking)


def test_chromium_opens_each_of_them_at_its_passage(tmp_path: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api", reason="the extra js is not installed")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("Chromium is needed")
    shutil.copy(GOLDEN, tmp_path / "page.html")
    chunks = [chunk for chunk in parse_page(GOLDEN.read_bytes()).chunks if chunk.text_fragment]
    assert len(chunks) >= 6
    with serve_folder(tmp_path) as address, playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            for chunk in chunks:
                page = browser.new_page(viewport={"width": 700, "height": 160})
                page.goto(f"http://{address}/page.html#{chunk.fragment or ''}{chunk.text_fragment}")
                words = unquote(chunk.text_fragment).rpartition("-,")[2].removeprefix(":~:text=")
                assert is_in_view(page, words, near=chunk.heading_path[-1]), chunk.text_fragment
                page.close()
        finally:
            browser.close()


def is_in_view(page: object, words: str, *, near: str) -> bool:
    """Whether an element that begins with *words*, behind the heading *near*, is what the window shows."""
    return bool(
        page.wait_for_function(  # type: ignore[attr-defined]
            """([words, near]) => {
                let heading = "";
                for (const one of document.querySelectorAll("h1, h2, h3, p, li")) {
                    if (one.tagName[0] == "H") heading = one.innerText;
                    const box = one.getBoundingClientRect();
                    if (heading == near && one.innerText.startsWith(words)
                        && box.top >= 0 && box.top < innerHeight) return true;
                }
                return false;
            }""",
            arg=[words, near],
            timeout=20_000,
        )
    )
