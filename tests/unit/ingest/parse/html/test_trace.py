"""What of a page's text is read and what is not, and why."""

from collections.abc import Mapping

import pytest

from ingest.parse.html.trace import BlockStatus, PageTrace, TracedBlock, trace_html
from schemas.fragment import ParseRequest

URI = "http://docs.example/guide/start.html"
PROSE = " ".join(f"Sentence number {number} tells of lamps and how they are kept." for number in range(12))


def trace(body: str, head: str = "") -> PageTrace:
    page = f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>"
    return trace_html(page.encode(), ParseRequest(uri=URI, source="docs", url=URI))


def by_text(page: PageTrace) -> Mapping[str, TracedBlock]:
    return {block.text: block for block in page.blocks}


SPHINX = '<meta name="generator" content="Sphinx 7.2">'


@pytest.mark.parametrize(
    ("inside", "reason", "culprit"),
    [
        ('<div class="contents">To find</div>', "sphinx pages write it around their content", "div.contents"),
        ("<nav id=n>To find</nav>", "navigation, search, footer or aside by tag or role", "nav#n"),
        ('<p role="search">To find</p>', "navigation, search", "p[role=search]"),
        ('<p style="display: none">To find</p>', "hidden from readers", "p"),
        ("<button>To find</button>", "a tag whose text is none of the page's", "button"),
        ("<h2>Lamps <span hidden>To find</span></h2>", "hidden from readers", "span"),
    ],
)
def test_what_is_left_out_of_the_content_says_why(inside: str, reason: str, culprit: str) -> None:
    page = trace(f'<div role="main"><h1>Lamps</h1><p>{PROSE}</p>{inside}</div>', SPHINX)
    block = by_text(page)["To find"]
    assert (block.verdict, block.culprit) == (BlockStatus.LEFT_OUT, culprit)
    assert block.reason.startswith(reason)


def test_what_lies_outside_of_the_content_says_what_it_is() -> None:
    around = "<header>Top</header><div class=sphinxsidebar>Side</div><div><p>Else</p></div>"
    page = trace(f'{around}<div role="main"><p>{PROSE}</p></div><footer>Foot</footer>', SPHINX)
    reasons = {text: block.reason for text, block in by_text(page).items()}
    assert reasons == {
        "Top": "header landmark, outside of the content",
        "Side": "aside landmark, outside of the content",
        "Else": "outside of div[role=main], which holds the content",
        PROSE: "",
        "Foot": "footer landmark, outside of the content",
    }


def test_a_vote_is_told_block_by_block() -> None:
    said = "<p>{}</p>".format(PROSE.replace(". ", ".</p><p>"))
    links = " ".join(f'<a href="{number}.html">Lamp {number}</a>' for number in range(9))
    page = trace(f"<div id=links>{links}</div><div id=story>{said}</div>")
    (link_block,) = (block for block in page.blocks if "Lamp 3" in block.text)
    assert (page.decided_by, page.content) == ("vote", "div#story")
    assert link_block.reason == "trafilatura took it for boilerplate"
    assert [block.voted == block.words for block in page.blocks] == [False] + [True] * 12


def test_a_heading_that_is_brought_in_from_outside_is_read() -> None:
    page = trace(f'<div><h1>Lamps</h1></div><div role="main"><p>{PROSE}</p></div>', SPHINX)
    assert by_text(page)["Lamps"].verdict is BlockStatus.READ


def test_all_text_of_the_body_is_told_once_and_nothing_of_scripts() -> None:
    table = "<table><tr><td>one<td>two<tr><td>three</table>"
    rest = f"loose {table} <pre>a\n  b</pre><script>no()</script><style>p{{}}</style> tail"
    page = trace(f"<nav>Menu <a href=x>here</a></nav><div role=main>{PROSE} <b>bold</b> {rest}</div>", SPHINX)
    rest_words = ["loose", "one", "two", "three", "a", "b", "tail"]
    words = [word for block in page.blocks for word in block.text.split()]
    assert words == ["Menu", "here", *PROSE.split(), "bold", *rest_words]
    assert "a\n  b" in by_text(page)


def test_a_heading_is_one_block_whatever_is_in_it() -> None:
    page = trace(f"<div role=main><h2><div>Example 1:</div> Lamps</h2><p>{PROSE}</p></div>", SPHINX)
    assert (by_text(page)["Example 1: Lamps"].level, page.blocks[0].place) == (2, "div[role=main] > h2")
