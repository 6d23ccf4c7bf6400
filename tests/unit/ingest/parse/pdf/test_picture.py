"""The page as a picture, with the passage framed."""

from base64 import b64decode

import pymupdf
import pytest

from ingest.parse.pdf.opening import draw_pages, draw_region
from schemas.errors import ParseError
from schemas.nodes import BBox, PageSize, turn
from tests.fakes.pdfs import Text, new_pdf, parse, pdf_bytes

RED = (255, 0, 0)


def red_box(png: bytes) -> tuple[int, int, int, int]:
    picture = pymupdf.Pixmap(png)
    red = [
        (x, y) for y in range(picture.height) for x in range(picture.width) if picture.pixel(x, y)[:3] == RED
    ]
    return min(x for x, _ in red), min(y for _, y in red), max(x for x, _ in red), max(y for _, y in red)


def dark_box(png: bytes) -> tuple[int, int, int, int]:
    picture = pymupdf.Pixmap(png)
    dark = [
        (x, y)
        for y in range(picture.height)
        for x in range(picture.width)
        if sum(picture.pixel(x, y)[:3]) < 150
    ]
    return min(x for x, _ in dark), min(y for _, y in dark), max(x for x, _ in dark), max(y for _, y in dark)


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_the_frame_lies_around_the_passage_also_on_a_rotated_and_cropped_page(rotation: int) -> None:
    document = pymupdf.open()
    page = document.new_page(width=300, height=200)
    page.insert_text((60, 80), "Frame this line", fontsize=12)
    page.set_cropbox(pymupdf.Rect(20, 10, 280, 190))
    page.set_rotation(rotation)
    data = document.tobytes()
    chunk = parse(data).chunks[0]
    assert chunk.bbox is not None

    png = draw_region(data, page_no=1, bbox=chunk.bbox, dpi=72)
    x0, y0, x1, y1 = red_box(png)
    left, top, right, bottom = dark_box(png)
    assert x0 < left <= right < x1
    assert y0 < top <= bottom < y1
    assert x1 - x0 - (right - left) < 25
    assert y1 - y0 - (bottom - top) < 25


def test_a_poster_is_drawn_smaller_instead_of_filling_the_memory() -> None:
    document = pymupdf.open()
    document.new_page(width=14_000, height=14_000)
    picture = pymupdf.Pixmap(draw_region(document.tobytes(), page_no=1, bbox=BBox(0, 0, 100, 100), dpi=300))

    assert picture.width * picture.height <= 25_100_000


def test_turning_four_times_gives_the_box_back() -> None:
    box, size = BBox(10, 20, 40, 30), PageSize(200, 100)
    once = turn(box, size=size, rotation=90)
    assert once == BBox(70, 10, 80, 40)
    assert turn(once, size=PageSize(100, 200), rotation=270) == box


@pytest.mark.parametrize("page_no", [0, 3])
def test_a_page_that_is_not_there_is_a_parse_error(page_no: int) -> None:
    data = pdf_bytes([[Text("one")], [Text("two")]])

    with pytest.raises(ParseError, match="the PDF has 2"):
        draw_region(data, page_no=page_no, bbox=BBox(0, 0, 10, 10))


def test_drawing_leaves_the_document_as_it_was() -> None:
    data = new_pdf([[Text("one")]]).tobytes()

    assert draw_region(data, page_no=1, bbox=BBox(0, 0, 10, 10)) == draw_region(
        data, page_no=1, bbox=BBox(0, 0, 10, 10)
    )


def test_pages_are_drawn_whole_and_one_that_is_not_there_is_left_out() -> None:
    document = new_pdf([[Text("first")], [Text("second")]])
    document[1].set_rotation(270)
    drawn = list(draw_pages(document.tobytes(), (1, 2, 7), dpi=72))
    assert [(picture.page_no, picture.rotation) for picture in drawn] == [(1, 0), (2, 270)]
    upright, turned = (pymupdf.Pixmap(b64decode(picture.png)) for picture in drawn)
    assert (upright.width, upright.height, turned.width, turned.height) == (595, 842, 842, 595)
