"""The report for a terminal."""

import unicodedata

from ingest.parse.inspection import inspect_document
from schemas.fragment import ParseRequest
from sitegraph.actions.inspection_building import build_report
from sitegraph.actions.inspection_text import render_inspection
from tests.fakes.pdfs import Text, count_words, heading, pdf_bytes, prose, request

URI = "http://docs.example/a.html"


def text_of(data: bytes, asked: ParseRequest) -> str:
    inspection = inspect_document(data, asked, count_tokens=count_words, draw=False)
    return render_inspection(build_report(inspection, address=asked.uri, notes=("a note",)), width=80)


def page_text(body: str) -> str:
    return text_of(body.encode(), ParseRequest(uri=URI, url=URI, source="docs"))


def test_a_page_is_told_from_its_title_to_its_links() -> None:
    text = page_text(
        '<link rel=canonical href="/b.html"><nav>Menu</nav><h1 id=lamps>Lamps</h1><p>A lamp gives light.</p>'
        '<h2>Oil</h2><p>Oil <a href="burn.html#how">burns</a>.</p>'
    )
    lines = text.split("\n")
    assert lines[0] == "Lamps"
    for line in (
        f"  address   {URI}",
        "  hint      canonical http://docs.example/b.html",
        "  note      a note",
        "  chunks    2 of 2 to 4 tokens, median 3; 2 found where they say they stand",
        "  h1 Lamps  #lamps  (4 words, chunk 0)",
        "    h2 Oil  (2 words, chunk 1)",
        "  Lamps > Oil",
        "  [0] 4 tokens  #lamps  confidence 0.7  found",
        "      A lamp gives light.",
        "       1 words  nav: trafilatura took it for boilerplate, and it does not read as a part of the "
        "text",
        "  body   http://docs.example/burn.html#how  burns",
    ):
        assert line in lines, line


def test_nothing_that_a_page_says_moves_the_cursor() -> None:
    escape = "\x1b]0;owned\x07\x9b2J"
    text = page_text(f"<nav>{escape}</nav><h1 id='a{escape}'>{escape}</h1><p>{escape}<a href=x>{escape}</a>")
    assert [sign for sign in text if sign != "\n" and unicodedata.category(sign) == "Cc"] == []


def test_a_pdf_is_told_page_by_page() -> None:
    pages = [[heading("Lamps"), Text(prose("lamp"))], [Text(prose("oil"))]]
    lines = text_of(pdf_bytes(pages, toc=[(1, "Lamps", 1)]), request()).split("\n")
    assert "  pages     2, with 2 paragraph, 1 heading" in lines
    assert "  p. 1  1 heading, 1 paragraph" in lines
    assert any(
        line.startswith("  [0] ") and "  p. 1 [72.0," in line and line.endswith("found") for line in lines
    )
