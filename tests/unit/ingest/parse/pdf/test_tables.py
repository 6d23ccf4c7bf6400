"""Tables with and without rulings, upright and on their side."""

from itertools import pairwise
from typing import Any

import pymupdf
import pytest

from ingest.parse.pdf.tables import count_header_rows, place_words
from schemas.nodes import BBox, PdfRegion, RegionType
from tests.fakes.pdfs import parse, prose

ROWS = [
    ("Lamp", "Price", "Year", "Makers"),
    ("Desk lamp", "12", "1998", "Arbor"),
    ("Floor lamp", "40", "", "Birch"),
    ("Wall lamp", "25", "2001", "Cedar"),
]
TEXT = "\n".join("\t".join(row) for row in ROWS)


def tables(document: Any) -> list[str]:
    fragment = parse(document.tobytes())
    return [
        node.text
        for node in fragment.nodes
        if isinstance(node, PdfRegion) and node.region_type is RegionType.TABLE
    ]


def page_with_table(*, ruled: bool) -> Any:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_textbox((72, 72, 520, 140), prose("lamp"), fontsize=10)
    for row, cells in enumerate(ROWS):
        for column, cell in enumerate(cells):
            box = pymupdf.Rect(72 + column * 110, 160 + row * 20, 182 + column * 110, 180 + row * 20)
            if ruled:
                page.draw_rect(box)
            page.insert_text((box.x0 + 4, box.y1 - 6), cell, fontsize=10)
    if not ruled:
        for y in (160, 180, 240):
            page.draw_line((72, y), (512, y))
    page.insert_textbox((72, 280, 520, 350), prose("plug"), fontsize=10)
    return document


@pytest.mark.parametrize("ruled", [True, False])
def test_a_table_is_read_row_by_row_and_an_empty_cell_keeps_its_place(ruled: bool) -> None:
    assert tables(page_with_table(ruled=ruled)) == [TEXT]


@pytest.mark.parametrize("rotation", [90, 270])
def test_a_table_that_lies_on_its_side_is_read_as_it_is_seen(rotation: int) -> None:
    upright = page_with_table(ruled=True)
    turned = pymupdf.open()
    size = upright[0].rect
    page = turned.new_page(width=size.height, height=size.width)
    page.show_pdf_page(page.rect, upright, 0, rotate=rotation)
    page.set_rotation(rotation)

    assert tables(turned) == [TEXT]


def test_an_outlined_document_has_its_ruled_tables() -> None:
    document = page_with_table(ruled=True)
    document.set_toc([[1, "Lamps", 1]])

    assert tables(document) == [TEXT]


def test_a_page_of_prose_has_no_table() -> None:
    document = pymupdf.open()
    document.new_page().insert_textbox((72, 72, 520, 400), prose("lamp", 20), fontsize=10)

    assert tables(document) == []


def long_table(rows: int) -> Any:
    document = pymupdf.open()
    page = document.new_page()
    shown = [("Lamp", "Where it is used"), *((f"Lamp {row}", prose(f"room{row}", 1)) for row in range(rows))]
    for row, cells in enumerate(shown):
        for column, (cell, left, right) in enumerate(zip(cells, (50, 130), (130, 560), strict=True)):
            page.draw_rect(pymupdf.Rect(left, 80 + row * 20, right, 100 + row * 20))
            page.insert_text((left + 4, 94 + row * 20), cell, fontsize=9 - column)
    return document


def test_a_table_cut_into_passages_repeats_its_header_and_each_has_the_box_of_its_rows() -> None:
    fragment = parse(long_table(30).tobytes())

    (region,) = (node for node in fragment.nodes if isinstance(node, PdfRegion))
    first, *others = fragment.chunks
    assert others
    assert all(chunk.text.startswith("Lamp\tWhere it is used\nLamp ") for chunk in fragment.chunks)
    assert first.text == region.text[slice(*first.offsets)]
    assert [chunk.text.partition("\n")[2] for chunk in others] == [
        region.text[slice(*chunk.offsets)] for chunk in others
    ]
    boxes = [chunk.bbox for chunk in fragment.chunks if chunk.bbox]
    assert all(above.y1 <= below.y0 + 1 for above, below in pairwise(boxes))


@pytest.mark.parametrize(
    ("rows", "headers"),
    [
        ([("Lamp", "1998"), ("Desk", "12"), ("Floor", "40")], 1),
        ([("Desk", "12"), ("Floor", "40.5"), ("Wall", "-3")], 0),
        ([("Desk", "12 %"), ("Floor", "€ 40"), ("Wall", "3")], 0),
        ([("Year", "Finland", ""), ("", "Female", "Male"), ("1996", "3.7", "1.6")], 2),
        ([("Lamp", "Room"), ("Desk", "Study"), ("Floor", "Hall")], 1),
        ([("Lamp", "Room"), ("", "Study"), ("", "Hall"), ("", "Attic"), ("", "Cellar")], 3),
        ([("Lamp", "Room"), ("Desk", "Study")], 1),
    ],
)
def test_rows_above_the_first_quantity_that_name_columns_are_headers(
    rows: list[tuple[str, ...]], headers: int
) -> None:
    assert count_header_rows(tuple(rows)) == headers


def test_a_word_in_two_cells_is_said_once_and_one_between_cells_is_not_lost() -> None:
    over, below, beside = BBox(0, 0, 100, 40), BBox(0, 20, 40, 40), BBox(60, 20, 100, 40)
    words = [(5.0, 2.0, 30.0, 12.0, "Lamps"), (5.0, 24.0, 30.0, 34.0, "Desk"), (44.0, 24.0, 52.0, 34.0, "12")]

    def texts(cells: list[list[BBox | None]]) -> list[list[str]]:
        return [[" ".join(word[4] for word in cell) for cell in row] for row in place_words(cells, words)]

    assert texts([[over, None], [below, beside]]) == [["Lamps 12", ""], ["Desk", ""]]
    assert texts([[None, None], [below, beside]])[1] == ["Lamps Desk 12", ""]
