"""Signs of a table: rulings both ways, or rows of texts side by side."""

from typing import Any

import pymupdf
import pytest

from ingest.parse.pdf.pictures import MAX_PATHS, Signs, read_paths, table_signs
from tests.fakes.pdfs import Text, new_pdf, prose

ROWS = [("Lamp", "Price", "Year"), ("Desk lamp", "12", "1998"), ("Floor lamp", "40", "2004")]


def signs_of(document: Any) -> Signs:
    page = document[0]
    return table_signs(page.get_cdrawings(), page.get_text("dict")["blocks"])


def page_with_rows(columns: int) -> Any:
    document = pymupdf.open()
    page = document.new_page()
    for row, cells in enumerate(ROWS):
        for column, cell in enumerate(cells[:columns]):
            page.insert_text((72 + column * 120, 150 + row * 20), cell, fontsize=10)
    return document


def test_prose_shows_no_sign_of_a_table() -> None:
    assert signs_of(new_pdf([[Text(prose("lamp", 20))]])) == Signs()


def test_three_rows_of_three_texts_are_columns_even_without_rulings() -> None:
    assert signs_of(page_with_rows(3)) == Signs(columns=True)


def test_rows_of_two_texts_are_columns_only_between_rulings() -> None:
    document = page_with_rows(2)
    assert signs_of(document) == Signs()

    for y in (135, 200):
        document[0].draw_line((72, y), (300, y))
    assert signs_of(document) == Signs(columns=True)


def test_numbers_before_the_items_of_a_list_are_no_column() -> None:
    document = pymupdf.open()
    page = document.new_page()
    for row in range(6):
        page.insert_text((72, 150 + row * 20), f"{row}.", fontsize=10)
        page.insert_text((100, 150 + row * 20), "Take the lamp out of its box", fontsize=10)
        page.draw_line((72, 155 + row * 20), (300, 155 + row * 20))

    assert signs_of(document) == Signs()


@pytest.mark.parametrize("lines", [2, 3])
def test_cells_need_three_rulings_each_way(lines: int) -> None:
    document = new_pdf([[Text("The lamps differ in price.")]])
    for number in range(lines):
        document[0].draw_line((72, 300 + 40 * number), (300, 300 + 40 * number))
        document[0].draw_line((72 + 80 * number, 300), (72 + 80 * number, 380))

    assert signs_of(document).grid is (lines == 3)


def test_a_page_with_too_many_drawings_is_left_alone_and_said_so() -> None:
    document = new_pdf([[Text(prose("lamp"))]])
    page = document[0]
    shape = page.new_shape()
    for number in range(MAX_PATHS + 1):
        shape.draw_line((10, number / 10), (20, number / 10))
        shape.finish()
    shape.commit()

    paths, warning = read_paths(document, page)
    assert paths is None
    assert warning == f"page 1: tables not looked for, {MAX_PATHS + 1} drawings"
