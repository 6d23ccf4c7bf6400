"""Pages of PDFs drawn in a process of their own."""

import pymupdf
import pytest

from runtime.processes.page_images import draw_apart, draw_page_apart
from schemas.errors import ConfigError, ParseError
from schemas.nodes import Chunk
from tests.fakes.governance import governance_documents
from tests.fakes.pdfs import manual

CHUNK = next(chunk for _, found in governance_documents()[0] for chunk in found if chunk.page_no == 1)


def test_a_page_is_drawn() -> None:
    assert pymupdf.Pixmap(draw_apart(manual(), CHUNK)).width > 100


def test_a_page_as_it_is_comes_with_its_size_and_how_it_is_turned() -> None:
    document = pymupdf.open()
    document.new_page(width=300, height=200).set_rotation(90)
    drawn = draw_page_apart(bytes(document.tobytes()), 1, dpi=72)
    picture = pymupdf.Pixmap(drawn.png)
    assert (picture.width, picture.height) == (drawn.size.width, drawn.size.height) == (200, 300)
    assert drawn.rotation == 90
    with pytest.raises(ParseError, match="no such page; the PDF has 1"):
        draw_page_apart(bytes(document.tobytes()), 2)


@pytest.mark.parametrize(
    ("data", "seconds", "words"),
    [(b"no pdf", 10.0, "not a PDF"), (manual(), 0.001, "took longer")],
)
def test_what_cannot_be_drawn_is_said_in_one_line(data: bytes, seconds: float, words: str) -> None:
    with pytest.raises(ParseError, match=words) as refused:
        draw_apart(data, CHUNK, seconds=seconds)
    assert "\n" not in str(refused.value)


def test_a_passage_of_no_page_is_refused() -> None:
    prose = next(chunk for _, found in governance_documents()[0] for chunk in found if chunk.page_no is None)
    with pytest.raises(ConfigError, match="no page and box"):
        draw_apart(b"", prose)
    assert isinstance(prose, Chunk)
