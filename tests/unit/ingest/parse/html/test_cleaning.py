"""What selectors and a hook take off a page goes; anchors, links, title and headings stay right."""

import gzip
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup

from ingest.parse.html.page import parse_html
from ingest.parse.html.trace import BlockStatus, CleaningStep, trace_html
from schemas.edges import LinkPosition
from schemas.errors import ParseError
from schemas.fragment import Cleaning, GraphFragment, Hook, ParseRequest
from schemas.nodes import Page, Section
from tests.fakes.pages import count_words
from tests.fakes.real_sites import DATA, extract_file, unpack

URI = "http://docs.example/guide/page.html"
HOOK = Hook(name="cleaning:tidy", path="cleaning.py", sha256="0", beside=True)

PAGE = """<!doctype html>
<html><head><title>Pumps | Waterworks</title><meta name="generator" content="Homemade"></head><body>
<div class="top"><p>Try our newsletter, it comes twice a month and costs nothing at all.</p>
<a href="/guide/valves.html">Valves</a></div>
<h1 class="name">Pumps</h1>
<div class="text" id="text">
<div class="wrap" id="starting"><h2>Starting a pump</h2>
<p>Open the inlet valve, then press the green button until the lamp is lit.</p></div>
<div class="rate"><p>Was this page of any use to you? Tell us in one word.</p><a href="/rate">Rate</a></div>
<h2><a class="sign" id="stopping">link</a>Stopping a pump</h2>
<p>Press the red button, wait for the gauge to fall, and only then close the inlet.
   See <a href="valves.html#closing">closing a valve</a>.</p></div>
<div class="related"><h3>Others read</h3><p>Ten pumps that changed the world, and one that did not.</p></div>
</body></html>"""


def parse(
    markup: str | bytes = PAGE, hook: Callable[[Any], object] | None = None, **cleaning: Any
) -> GraphFragment:
    """Parse a page that is cleaned so."""
    data, request, run_hook = asked(markup, hook, cleaning)
    return parse_html(data, request, count_tokens=count_words, run_hook=run_hook)


def asked(
    markup: str | bytes, hook: Callable[[Any], object] | None, cleaning: dict[str, Any]
) -> tuple[Any, ...]:
    named = Cleaning(**cleaning, hook=HOOK if hook else None)
    request = ParseRequest(uri=URI, source="docs", cleaning=named)
    data = markup if isinstance(markup, bytes) else markup.encode()
    return data, request, lambda _hook, soup, _uri: hook(soup) if hook else None


def text_of(fragment: GraphFragment) -> str:
    return "\n".join(chunk.text for chunk in fragment.chunks)


def places(fragment: GraphFragment) -> dict[str, str | None]:
    """The fragment that each section is cited by, by heading."""
    return {node.heading: node.fragment for node in fragment.nodes if isinstance(node, Section)}


def targets(fragment: GraphFragment) -> dict[str, LinkPosition]:
    """Where links stand, by the first path that leads to each target."""
    return {link.target.rpartition("/")[2]: link.position for link in reversed(fragment.links)}


def test_only_what_is_selected_is_read_under_the_heading_above_it() -> None:
    fragment = parse(select=(".text",))

    assert "newsletter" not in text_of(fragment)
    assert "Ten pumps" not in text_of(fragment)
    assert "green button" in text_of(fragment)
    assert fragment.title == "Pumps"
    (chunk,) = (chunk for chunk in fragment.chunks if "green button" in chunk.text)
    assert chunk.heading_path == ("Pumps", "Starting a pump")
    assert chunk.structure_confidence == 1.0
    assert fragment.matched == ("content.select '.text'",)


def test_several_selections_are_read_in_the_order_of_the_page_and_nothing_between_them() -> None:
    fragment = parse(select=(".text > p", ".related", ".wrap"))

    text = text_of(fragment)
    assert "use to you" not in text
    assert text.index("green button") < text.index("red button") < text.index("Ten pumps")
    assert places(fragment)["Starting a pump"] == "starting"


def test_an_aside_that_is_selected_is_read_though_it_is_an_aside() -> None:
    page = (
        "<h1>Oil</h1><main><p>Oil the shaft once a week with a thin oil.</p></main>"
        "<aside class=sidebar id=grease hidden><p>Grease does as well in summer.</p></aside>"
    )
    assert "Grease" not in text_of(parse(page, select=("main",)))

    fragment = parse(page, select=("main", "aside"))

    assert text_of(fragment) == "Oil the shaft once a week with a thin oil.\n\nGrease does as well in summer."


def test_a_page_on_which_no_select_matches_is_taken_as_a_whole() -> None:
    with_none, without = parse(select=("article.missing",)), parse()

    assert with_none.chunks == without.chunks
    assert with_none.matched == ()


def test_what_is_removed_is_gone_and_its_links_still_lead_on_as_links_of_an_aside() -> None:
    fragment = parse(remove=(".rate", ".top", ".related"))

    assert not {"newsletter", "Tell us", "Ten pumps"} & set(text_of(fragment).split())
    assert "use to you" not in text_of(fragment)
    assert targets(fragment)["rate"] is LinkPosition.ASIDE
    assert targets(fragment)["valves.html"] is LinkPosition.BODY
    assert set(targets(fragment)) == set(targets(parse()))


def test_removing_the_sign_beside_a_heading_leaves_the_heading_its_anchor() -> None:
    fragment = parse(select=(".text",), remove=("a.sign",))

    assert places(fragment)["Stopping a pump"] == "stopping"
    assert all(chunk.round_trip is not False for chunk in fragment.chunks)
    assert "link" not in places(fragment)


def test_every_selector_sees_the_page_before_anything_is_removed() -> None:
    one = parse(select=(".top + h1 + .text",), remove=("h1", ".top"))
    assert one.matched == (
        "content.remove '.top'",
        "content.remove 'h1'",
        "content.select '.top + h1 + .text'",
    )
    assert "green button" in text_of(one)


@pytest.mark.parametrize(
    ("css", "title"),
    [
        (".related h3", "Others read"),
        ("meta[name=generator]", "Homemade"),
        ("title", "Pumps | Waterworks"),
        (".missing", "Pumps"),
    ],
)
def test_the_title_is_what_its_selector_matches_else_as_ever(css: str, title: str) -> None:
    assert parse(title=css).title == title


def test_a_title_may_stand_in_what_is_removed() -> None:
    assert parse(title=".related h3", remove=(".related",)).title == "Others read"


def test_family_trail_and_hints_are_told_from_the_page_before_selectors_took_anything() -> None:
    page = (
        "<head><title>Valves</title><meta name=robots content=nofollow></head>"
        '<nav class="breadcrumbs"><ul><li>Home</li><li>Guide</li></ul></nav>'
        "<div class=navheader>x</div><div class=titlepage><h2 class=title>Valves</h2></div><p>They close.</p>"
    )
    fragment = parse(page, remove=("nav", ".navheader", "meta"))

    (node,) = (node for node in fragment.nodes if isinstance(node, Page))
    assert node.breadcrumbs == ("Home", "Guide")
    assert node.template_type == "docbook"
    assert fragment.nofollow


def test_a_hook_changes_the_page_in_place() -> None:
    def tidy(soup: BeautifulSoup) -> None:
        for banner in soup.select(".top, .related"):
            banner.decompose()

    fragment = parse(hook=tidy)

    assert "newsletter" not in text_of(fragment)
    assert set(targets(fragment)) == set(targets(parse()))
    assert targets(fragment)["valves.html"] is LinkPosition.BODY


def test_a_hook_may_return_another_page() -> None:
    fragment = parse(hook=lambda _: BeautifulSoup("<h1>Other</h1><p>Quite another text.</p>", "lxml"))
    assert (fragment.title, text_of(fragment)) == ("Other", "Quite another text.")


def test_anchors_outlast_a_hook_that_unwraps_wrappers_and_strips_attributes() -> None:
    def tidy(soup: BeautifulSoup) -> None:
        for wrapper in soup.select("div"):
            wrapper.unwrap()
        soup.select_one(".sign").decompose()
        for tag in soup.find_all(True):
            tag.attrs = {name: value for name, value in tag.attrs.items() if name == "href"}

    fragment = parse(hook=tidy)

    assert places(fragment)["Starting a pump"] == "starting"
    assert places(fragment)["Stopping a pump"] == "stopping"
    assert all(chunk.round_trip is not False for chunk in fragment.chunks)


def test_an_id_that_only_the_hook_gave_is_told_apart_since_no_link_to_the_page_would_find_it() -> None:
    def tidy(soup: BeautifulSoup) -> None:
        soup.select_one("h2")["id"] = "mine"

    fragment = parse(hook=tidy)
    assert any("round trip" in warning for warning in fragment.warnings)


def test_selectors_choose_from_the_page_as_the_hook_left_it() -> None:
    def tidy(soup: BeautifulSoup) -> None:
        soup.select_one(".text")["class"] = "marked"

    assert parse(hook=tidy, select=(".marked",)).matched == ("content.select '.marked'",)


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("text", "clean cleaning:tidy returned a str; it should change the BeautifulSoup that it is given"),
        (BeautifulSoup("<p>x</p>", "lxml").p, "clean cleaning:tidy returned a Tag;"),
        (BeautifulSoup("", "lxml"), "clean cleaning:tidy left no text of the page"),
        (BeautifulSoup("<title>only</title>", "lxml"), "clean cleaning:tidy left no text of the page"),
    ],
)
def test_nonsense_that_a_hook_returns_is_told_by_its_name(made: object, told: str) -> None:
    with pytest.raises(ParseError, match=told) as caught:
        parse(hook=lambda _: made)
    assert caught.value.subject == URI


def test_control_characters_and_impossible_names_that_a_hook_writes_cost_nothing_but_themselves() -> None:
    def tidy(soup: BeautifulSoup) -> None:
        soup.select_one("h1").string = "Pumps\x00\x01 and\ud800 more"
        soup.select_one(".top").name = "no name"
        soup.select_one(".rate").attrs = {"a b": 1, "": None, "data-x": True, "id": 7}
        soup.append(soup.new_tag("p"))

    assert parse(hook=tidy).title == "Pumps and more"


def test_the_trace_says_what_each_selector_matched_and_shows_what_was_removed() -> None:
    def tidy(soup: BeautifulSoup) -> None:
        soup.select_one(".top").decompose()

    cleaning = {"select": (".text",), "remove": (".rate", "i"), "title": "h1"}
    data, request, run_hook = asked(PAGE, tidy, cleaning)

    trace = trace_html(data, request, run_hook=run_hook)

    assert trace.cleaning == (
        CleaningStep(name="clean cleaning:tidy", elements=3, words=14),
        CleaningStep(name="content.select '.text'", elements=1, words=54),
        CleaningStep(name="content.remove '.rate'", elements=1, words=14),
        CleaningStep(name="content.remove 'i'", elements=0, words=0),
        CleaningStep(name="content.title 'h1'", elements=1, words=1),
    )
    assert trace.decided_by == "selected"
    (removed,) = (block for block in trace.blocks if block.reason == "removed by content.remove '.rate'")
    assert (removed.verdict, removed.culprit) == (BlockStatus.LEFT_OUT, "div.rate")
    assert removed.text.startswith("Was this page")
    (related,) = (block for block in trace.blocks if "Ten pumps" in block.text)
    assert related.verdict is BlockStatus.OUTSIDE


@pytest.mark.data
def test_a_hook_that_changes_nothing_changes_no_fragment_of_a_real_manual(tmp_path: Path) -> None:
    html = next(unpack("sites/postgresql.tar.xz", "15.20", tmp_path).rglob("html"))
    pages = sorted(html.glob("*.html"))[::30]
    assert len(pages) > 35
    for page in pages:
        markup = page.read_text("utf-8", "replace")
        before = parse_html(markup.encode(), ParseRequest(uri=URI, source="docs"), count_tokens=count_words)
        assert parse(markup, hook=lambda _: None) == before


@pytest.mark.data
def test_a_hook_that_changes_nothing_changes_nothing_of_pages_of_the_web(tmp_path: Path) -> None:
    """White space alone makes trafilatura find other content, on five of 350 pages here if it is not kept."""
    with tarfile.open(DATA / "html-wcxb" / "dev-html.tar") as archive:
        names = [f"dev/html/{number}.html.gz" for number in ("4760", "3016")]
        for name in names:
            markup = gzip.decompress(
                extract_file(archive, archive.getmember(name), tmp_path / name).read_bytes()
            )
            before = parse_html(markup, ParseRequest(uri=URI, source="docs"), count_tokens=count_words)
            assert parse(markup, hook=lambda _: None) == before
