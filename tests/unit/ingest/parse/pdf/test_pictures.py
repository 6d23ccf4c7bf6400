"""Figures of a page: raster images wherever they stand, drawings where a caption names them."""

from typing import Any

import pymupdf
import pytest

from schemas.nodes import PdfRegion, RegionType
from tests.fakes.pdfs import parse, prose

CAPTION = "Figure 2: How a lamp is wired"


def figures(document: Any) -> list[PdfRegion]:
    nodes = parse(document.tobytes()).nodes
    return [node for node in nodes if isinstance(node, PdfRegion) and node.region_type is RegionType.FIGURE]


def page_with(caption: str = CAPTION) -> Any:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_textbox((72, 72, 520, 130), prose("lamp"), fontsize=10)
    page.insert_text((150, 330), caption, fontsize=10)
    page.insert_textbox((72, 360, 520, 420), prose("plug"), fontsize=10)
    return document


def draw_circuit(page: Any, box: pymupdf.Rect) -> None:
    page.draw_circle((box.x0 + 40, box.y0 + 40), 40)
    page.draw_line((box.x0 + 80, box.y0 + 40), (box.x1, box.y0 + 40))
    page.draw_line((box.x1, box.y0 + 40), (box.x1, box.y1))


BOX = pymupdf.Rect(150, 200, 300, 310)


def test_a_drawing_beside_a_caption_is_a_figure_with_that_caption() -> None:
    document = page_with()
    draw_circuit(document[0], BOX)

    (figure,) = figures(document)
    assert figure.caption == CAPTION
    box = (figure.bbox.x0, figure.bbox.y0, figure.bbox.x1, figure.bbox.y1)
    assert box == pytest.approx(tuple(BOX), abs=2)


def test_a_drawing_without_a_caption_and_one_far_from_it_are_none() -> None:
    plain = page_with("How a lamp is wired")
    draw_circuit(plain[0], BOX)
    far = page_with()
    draw_circuit(far[0], pymupdf.Rect(150, 500, 300, 610))

    assert figures(plain) == []
    assert figures(far) == []


def test_rules_and_frames_beside_a_caption_are_no_figures() -> None:
    document = page_with()
    document[0].draw_line((72, 310), (520, 310))
    document[0].draw_rect((20, 20, 575, 822))

    assert figures(document) == []


def test_an_image_in_its_frame_is_one_figure() -> None:
    document = page_with()
    pixels = pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 150, 110))
    document[0].insert_image(BOX, pixmap=pixels)
    document[0].draw_rect(BOX)

    assert [figure.caption for figure in figures(document)] == [CAPTION]


def test_a_drawing_of_very_many_lines_is_left_alone() -> None:
    document = page_with()
    shape = document[0].new_shape()
    for step in range(1100):
        shape.draw_line((150 + step % 100, 200), (150, 200 + step % 110))
        shape.finish()
    shape.commit()

    assert figures(document) == []


def test_two_drawings_have_ids_of_their_own() -> None:
    document = page_with()
    draw_circuit(document[0], BOX)
    document.fullcopy_page(0)
    found = figures(document)

    assert len({figure.id for figure in found}) == 2
