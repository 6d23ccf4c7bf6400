"""Boxes on the picture of a page: over the words, however the page is turned and cut."""

import pymupdf
import pytest

from ingest.parse.pdf.opening import draw_page
from runtime.page_images import DrawnPage
from schemas.nodes import BBox
from sitegraph.service.viewer.citation import FIT, boxes_of, dpi_of
from tests.fakes.governance import governance_documents
from tests.fakes.pdfs import parse

PAPER = [chunk for _, found in governance_documents()[0] for chunk in found if chunk.page_no]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_the_box_is_around_the_words_however_the_page_is_turned(rotation: int) -> None:
    document = pymupdf.open()
    page = document.new_page(width=300, height=200)
    page.insert_text((60, 80), "Frame this line", fontsize=12)
    page.set_cropbox(pymupdf.Rect(20, 10, 280, 190))
    page.set_rotation(rotation)
    data = bytes(document.tobytes())
    chunks = parse(data).chunks
    png, size, turned = draw_page(data, page_no=1, dpi=72)

    (box,) = boxes_of(chunks, DrawnPage(png=png, size=size, rotation=turned), cited=chunks[0].id)

    picture = pymupdf.Pixmap(png)
    dark = [
        (x, y) for x in range(picture.width) for y in range(picture.height) if sum(picture.pixel(x, y)) < 300
    ]
    assert dark
    assert all(box.x - 1 <= x <= box.x + box.width + 1 for x, _ in dark)
    assert all(box.y - 1 <= y <= box.y + box.height + 1 for _, y in dark)
    assert box.cited


def test_passages_of_one_region_share_a_box_which_is_the_cited_ones_and_on_top() -> None:
    first, second = PAPER
    drawn = DrawnPage(png=b"", size=first.page_size, rotation=0)  # type: ignore[arg-type]
    assert [box.chunk for box in boxes_of(PAPER, drawn, cited=first.id)] == [first.id]
    assert [box.chunk for box in boxes_of(PAPER, drawn, cited=second.id)] == [second.id]
    assert [box.cited for box in boxes_of(PAPER, drawn, cited="nobody")] == [False]
    assert first.bbox == BBox(72, 100, 540, 160)


def test_a_larger_picture_has_more_points() -> None:
    assert [dpi_of(zoom) for zoom in (FIT, 100, 200)] == [110, 110, 220]
