"""Where a link stands: the chunk, and the offset of its words in it."""

import pytest

from ingest.link.links import link_edges
from ingest.parse.document import parse_document
from schemas.edges import LinkPosition
from schemas.fragment import GraphFragment, ParseRequest

TARGET = "https://docs.example/quay.html"


def parsed(text: str, suffix: str) -> GraphFragment:
    uri = f"https://docs.example/page.{suffix}"
    kind = {"html": "text/html", "md": "text/markdown"}[suffix]
    request = ParseRequest(uri=uri, url=uri, path=f"page.{suffix}", source="s", content_type=kind)
    return parse_document(text.encode(), request, count_tokens=lambda words: len(words.split()))


def words_at(fragment: GraphFragment) -> list[str | None]:
    """What the chunk of each place has there, as long as the link is; None where the place has no offset."""
    texts = {chunk.id: chunk.text for chunk in fragment.chunks}
    return [
        None if at.offset is None else texts[at.chunk][at.offset :][: len(link.text)]
        for link in fragment.links
        for at in link.places
    ]


LINK = '<a href="quay.html">the quay</a>'


@pytest.mark.parametrize(
    "markup",
    [
        f"<p>Boats lie at {LINK}, and \n  at low water nowhere.</p>",
        f"<p>{LINK}</p>",
        f"<ul><li>one<li>at {LINK}<ul><li>deeper</ul></ul>",
        f"<dl><dt>Berth of {LINK}:</dt><dd>is dry</dd></dl>",
        f"<dl><dt>Berth</dt><dd>at {LINK}</dd></dl>",
        f"<table><tr><th>a<th>b</tr><tr><td colspan=2>at {LINK}<tr><td>x<td>y</table>",
        f"<table><caption>Near {LINK}</caption><tr><th>a<th>b<tr><td>x<td>y</table>",
        f"<pre>\n\n\tgo\tto\n\tsee\t{LINK}\n</pre>",
        f"<p>é\u200b<b>bold</b> <code>x</code><br>at {LINK}</p>",
        f"<blockquote><p>At {LINK}.</p></blockquote>",
        f"<figure><img src=a><figcaption>At {LINK}</figcaption></figure>",
        '<p>At <a href="quay.html"><i>the</i>\n <b>quay</b></a>.</p>',
        '<a href="quay.html"><p>the quay</p></a>',
    ],
)
def test_the_words_of_a_link_stand_at_its_offset(markup: str) -> None:
    fragment = parsed(f"<body><h1>Harbour</h1><p>Some words first.</p>{markup}<p>And some last.</p>", "html")
    assert words_at(fragment) == ["the quay"]
    assert [link.position for link in fragment.links] == [LinkPosition.BODY]


@pytest.mark.parametrize(
    "text",
    [
        "Boats lie at [the quay](quay.html), or nowhere.",
        "1. one\n2. at [the quay](quay.html)\n\n   more",
        "| a | b |\n|---|---|\n| x  y | at [the quay](quay.html) |",
        "> At [the quay](quay.html).",
        'Boats lie at <a href="quay.html">the quay</a>.',
        '<p>Boats lie\n at <a href="quay.html">the quay</a>.</p>',
        "At **[the `quay`](quay.html)**.",
    ],
)
def test_so_they_do_in_markdown(text: str) -> None:
    assert words_at(parsed(f"# Harbour\n\nSome words first.\n\n{text}\n\nAnd some last.\n", "md")) == [
        "the quay"
    ]


@pytest.mark.parametrize(
    "markup",
    [
        f"<h2>Berths of {LINK}</h2><p>They are dry.</p>",
        '<p>They <a href="quay.html"><img src="a.png" alt="the quay"></a> are dry.</p>',
        '<p>They are dry.</p><a href="quay.html"><img src="a.png" alt="the quay"></a>',
    ],
)
def test_a_link_in_a_heading_or_a_picture_has_a_chunk_and_no_offset(markup: str) -> None:
    fragment = parsed(f"<body><h1>Harbour</h1>{markup}", "html")
    (link,) = fragment.links
    assert [(at.chunk, at.offset) for at in link.places] == [(fragment.chunks[-1].id, None)]


def test_a_long_text_is_cut_and_each_link_is_in_the_chunk_that_has_it() -> None:
    paragraphs = "".join(f"<p>{'dry berth ' * 40} {LINK} {number}</p>" for number in range(20))
    fragment = parsed(f"<body><h1>Harbour</h1>{paragraphs}", "html")
    assert len(fragment.chunks) > 3
    assert words_at(fragment) == ["the quay"] * 20
    edges = link_edges(fragment, source="s", resolve=lambda uri: "page:quay" if uri == TARGET else None)
    assert {edge.chunk for edge in edges} == {chunk.id for chunk in fragment.chunks}
    assert sum(edge.count for edge in edges) == 20
    assert len({edge.id for edge in edges}) == len(edges)


def test_the_rows_of_a_table_that_repeat_its_header_move_the_offset() -> None:
    rows = "".join(f"<tr><td>berth {n} {'dry ' * 30}<td>{LINK}" for n in range(30))
    fragment = parsed(f"<body><h1>Harbour</h1><table><thead><tr><th>a<th>b</thead>{rows}</table>", "html")
    assert len(fragment.chunks) > 3
    assert words_at(fragment) == ["the quay"] * 30


def test_a_secret_that_is_hidden_before_a_link_moves_its_offset() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    fragment = parsed(f"<body><h1>Harbour</h1><p>Use {secret} at {LINK}.</p>", "html")
    assert fragment.secrets
    assert words_at(fragment) == ["the quay"]


@pytest.mark.parametrize("rel", ["next", "prev", "up", "index"])
def test_a_link_that_says_it_leads_through_the_site_is_navigation(rel: str) -> None:
    page = f'<body><main><h1>Harbour</h1><p>Dry. <a rel="{rel}" href="quay.html">Onward</a></p></main>'
    assert [link.position for link in parsed(page, "html").links] == [LinkPosition.NAV]


def test_a_link_around_the_content_is_none_of_the_text_though_no_landmark_says_so() -> None:
    words = "Berth seven is dry at low water, and boats lie there only in summer. " * 6
    page = (
        f'<body><div><a href="quay.html">Onward</a></div><main><h1>Harbour</h1><p>{words} {LINK}</p></main>'
    )
    positions = {link.text: link.position for link in parsed(page, "html").links}
    assert positions == {"Onward": LinkPosition.ASIDE, "the quay": LinkPosition.BODY}
