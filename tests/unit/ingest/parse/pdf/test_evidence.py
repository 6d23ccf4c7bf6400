"""Which pages show a table by their text, and which of those rulings already answer."""

from typing import Any

import pymupdf

from ingest.parse.pdf.evidence import TableEvidence, table_evidence
from ingest.parse.pdf.links import PageTops
from ingest.parse.pdf.page import PageContent, Search, read_pdf_page
from schemas.nodes import PdfRegion, RegionType
from tests.fakes.pdfs import Text, code, new_pdf, parse, prose

FIGURES = [("Port", "2019", "2020"), ("North", "120", "131"), ("Middle", "98", "77"), ("South", "310", "298")]


def evidence_of(document: Any) -> TableEvidence:
    page = document[0]
    return table_evidence(page.get_text("words"), page.get_text("dict")["blocks"], page.rect.width)


def with_figures(*, font: str = "helv", ruled: bool = False, caption: str = "") -> Any:
    document = new_pdf([[Text(prose("lamp", 4))]])
    page = document[0]
    if caption:
        page.insert_text((72, 280), caption, fontsize=10)
    for row, cells in enumerate(FIGURES):
        for column, cell in enumerate(cells):
            box = pymupdf.Rect(72 + column * 100, 300 + row * 20, 172 + column * 100, 320 + row * 20)
            page.insert_text((box.x0 + 4, box.y1 - 6), cell, fontsize=10, fontname=font)
            if ruled:
                page.draw_rect(box)
    return document


def read(document: Any, most: Search = Search.LAYOUT) -> PageContent:
    return read_pdf_page(document, 0, tops=PageTops(document), most=most, outlined=True)


def test_prose_shows_no_table() -> None:
    assert not evidence_of(new_pdf([[Text(prose("lamp", 20))]]))


def test_figures_in_line_and_a_caption_show_one() -> None:
    assert len(evidence_of(with_figures()).aligned) == 1
    assert evidence_of(new_pdf([[Text("Table 4: Ships")]])).captions == 1


def test_a_listing_shows_none_though_its_columns_line_up() -> None:
    assert not evidence_of(with_figures(font="cour"))


def test_a_listing_in_a_font_without_a_telling_name_shows_none() -> None:
    lines = "\n".join(f"{name:<10}{120 + at:>6}{131 * at:>6}  done" for at, name in enumerate("abcdefgh", 1))
    assert not evidence_of(new_pdf([[Text(prose("lamp", 8)), code(lines)]]))


def test_a_table_without_rulings_is_found_in_a_document_with_an_outline() -> None:
    document = with_figures()
    document.set_toc([[1, "Ships", 1]])
    regions = [node for node in parse(document.tobytes()).nodes if isinstance(node, PdfRegion)]
    (table,) = [region for region in regions if region.region_type is RegionType.TABLE]
    assert table.text.split("\n") == ["\t".join(row) for row in FIGURES]


def test_without_the_model_what_lines_up_is_a_table_all_the_same() -> None:
    (table,) = read(with_figures(), most=Search.RULINGS).tables
    assert table.rows == tuple(FIGURES)
    assert table.header_rows == 1


def test_the_model_is_not_asked_where_rulings_show_the_table_already() -> None:
    page = read(with_figures(ruled=True))
    assert page.searched is Search.RULINGS
    assert [table.rows for table in page.tables] == [tuple(FIGURES)]


def test_a_caption_without_a_ruled_table_asks_the_model() -> None:
    assert read(with_figures(ruled=True, caption="Table 1: Ships")).searched is Search.RULINGS
    document = with_figures(ruled=True, caption="Table 1: Ships")
    document[0].insert_text((72, 500), "Table 2: Boats", fontsize=10)
    assert read(document).searched is Search.LAYOUT


def test_a_table_says_its_caption_and_its_unit_with_every_part() -> None:
    document = new_pdf([[Text("Table 1: Ships by harbour")]])
    page = document[0]
    page.insert_text((72, 115), "(in thousands)", fontsize=8)
    for row in range(60):
        cells = (
            ("Harbour", "Summer", "Winter")
            if not row
            else (f"Port of call {chr(64 + row % 26)}", f"{row}.5", f"{row * 3}.0")
        )
        for column, cell in enumerate(cells):
            page.insert_text((72 + column * 100, 140 + row * 10), cell, fontsize=8)
    document.set_toc([[1, "Ships", 1]])
    parts = [chunk for chunk in parse(document.tobytes()).chunks if "Port of call" in chunk.text]
    assert len(parts) > 1
    for part in parts:
        assert part.captions == ("Table 1: Ships by harbour (in thousands)",)
        assert part.text.startswith("Harbour\tSummer\tWinter\n")
        assert part.round_trip


def test_rulings_that_put_rows_together_ask_the_model_and_what_lines_up_parts_them() -> None:
    document = with_figures()
    page = document[0]
    for x in (72, 172, 272, 372):
        page.draw_line((x, 300), (x, 380))
    for y in (300, 320, 380):
        page.draw_line((72, y), (372, y))
    assert read(document, most=Search.RULINGS).tables[0].rows == tuple(FIGURES)
    assert read(document).searched is Search.LAYOUT
