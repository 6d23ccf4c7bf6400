"""Captions of tables, figures and listings, wherever a generator puts them."""

import pytest

from tests.fakes.pages import parse_page, texts_of


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<div class=listingblock><div class=title>Run</div><div><pre>x</pre></div></div>", "Run\nx"),
        ("<div class=code-block-caption><span>Run</span></div><pre>x</pre>", "Run\nx"),
        ("<figure><figcaption>Run</figcaption><pre>x</pre></figure>", "Run\nx"),
        ("<figure><pre>x</pre><figcaption>Run</figcaption></figure>", "x\nRun"),
        ("<div class=float><pre>x</pre><div class=caption><p>Run</p></div></div>", "x\nRun"),
        ("<div class=example><p class=title>Run</p><div><p>x</p></div></div>", "Run\nx"),
        ("<div class=figure><p class=title>Run</p><div><img src=a.png></div></div>", "Run"),
        ("<div class=figure><img src=a.png><p class=caption>Run</p></div>", "Run"),
        ("<div class=imageblock><div class=content><img src=a></div><div class=title>Run</div></div>", "Run"),
    ],
)
def test_a_caption_is_that_of_its_listing_or_picture_and_of_nothing_else(markup: str, text: str) -> None:
    long = "word " * 200
    fragment = parse_page(f"<main><h2>A</h2><p>{long}</p>{markup}<p>{long}</p></main>")
    assert f"{long.strip()}\n\n{text}\n\n{long.strip()}" == texts_of(fragment)["A"]
    captioned = [chunk for chunk in fragment.chunks if chunk.captions]
    assert [chunk.captions for chunk in captioned] == [("Run",)]
    assert "Run" in captioned[0].text


def test_a_table_in_pieces_has_its_caption_in_each_though_it_stands_below() -> None:
    rows = "".join(f"<tr><td>name {n}<td>{'value ' * 8}</tr>" for n in range(60))
    fragment = parse_page(
        f"<main><h1>A</h1><figure><table>{rows}</table><figcaption>Names</figcaption></figure></main>"
    )
    assert len(fragment.chunks) > 2
    assert {chunk.captions for chunk in fragment.chunks} == {("Names",)}


def test_a_note_of_asciidoc_is_no_table() -> None:
    cells = "<tr><td class=icon><div class=title>Tip</div></td><td class=content>Press it.</td></tr>"
    page = f"<main><h2>A</h2><div class='admonitionblock tip'><table>{cells}</table></div></main>"
    assert texts_of(parse_page(page)) == {"A": "Tip\n\nPress it."}


def test_footnotes_that_sphinx_puts_aside_are_read() -> None:
    note = "<aside class='footnote brackets' id=f1><span class=label>1</span><p>In the cellar.</p></aside>"
    other = "<aside class=sidebar><p>Other pages</p></aside>"
    fragment = parse_page(f"<div role=main><h2>A</h2><p>x</p>{note}{other}</div>")
    assert texts_of(fragment) == {"A": "x\n\n1\n\nIn the cellar."}
