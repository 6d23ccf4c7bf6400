"""A parse looked at from all sides."""

import base64

import pymupdf

from ingest.parse.inspection import inspect_document
from schemas.fragment import ParseRequest
from schemas.nodes import DocumentKind
from tests.fakes.pdfs import Text, count_words, heading, new_pdf, pdf_bytes, prose, request
from tests.fakes.secret_samples import github_token

URI = "http://docs.example/a.html"
AS_PAGE = ParseRequest(uri=URI, url=URI, source="docs")


def test_a_page_is_traced_and_a_pdf_is_not() -> None:
    page = inspect_document(b"<p>A lamp gives light.", AS_PAGE, count_tokens=count_words, draw=True)
    assert page.page is not None
    assert (page.fragment.kind, page.pictures) == (DocumentKind.HTML, ())
    data = pdf_bytes([[Text(prose("lamp"))]])
    assert inspect_document(data, request(), count_tokens=count_words, draw=True).page is None


def test_pages_of_a_pdf_are_drawn_as_displayed_when_asked_for() -> None:
    document = new_pdf([[heading("Lamps"), Text(prose("lamp"))], [Text(prose("oil"))]])
    document[1].set_rotation(90)
    data = document.tobytes()
    first, second = inspect_document(data, request(), count_tokens=count_words, draw=True).pictures
    assert (first.page_no, first.rotation, second.page_no, second.rotation) == (1, 0, 2, 90)
    upright, turned = (pymupdf.Pixmap(base64.b64decode(picture.png)) for picture in (first, second))
    assert (upright.width, upright.height) == (turned.height, turned.width)
    assert inspect_document(data, request(), count_tokens=count_words, draw=False).pictures == ()


def test_a_secret_is_neither_told_nor_drawn() -> None:
    token = github_token()
    page = f"<nav>token {token}</nav><p>The key is {token} here.".encode()
    looked = inspect_document(page, AS_PAGE, count_tokens=count_words, draw=False)
    assert looked.page is not None
    assert [token in block.text for block in looked.page.blocks] == [False, False]
    assert "[redacted]" in looked.page.blocks[0].text
    data = pdf_bytes([[Text(f"The token {token} opens the door.")], [Text(prose("lamp"))]])
    drawn = inspect_document(data, request(), count_tokens=count_words, draw=True)
    assert [picture.page_no for picture in drawn.pictures] == [2]
    assert [trip.at_place for trip in drawn.round_trips] == [None, True]
