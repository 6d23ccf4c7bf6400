"""Listings, tables and tables of contents: what each is, its text, and which becomes a passage."""

import pymupdf

from schemas.nodes import RegionType
from tests.fakes.pdfs import Text, chunk_with, code, heading, new_pdf, parse, pdf_bytes, prose, regions


def test_code_keeps_its_lines_and_indentation() -> None:
    listing = "\n".join(f"    value_{number} = load(number={number}, strict=True)" for number in range(12))
    fragment = parse(pdf_bytes([[Text(prose("lamp")), code(f"def main():\n{listing}"), Text(prose("plug"))]]))

    assert [region.text for region in regions(fragment, RegionType.CODE)] == [f"def main():\n{listing}"]


def test_a_small_listing_stays_with_its_paragraph() -> None:
    fragment = parse(
        pdf_bytes([[Text("Switch it on with this command:"), code("lamp --on"), Text(prose("plug"))]])
    )

    assert len(fragment.chunks) == 1
    assert "command:\n\nlamp --on\n\nThe plug" in fragment.chunks[0].text
    assert "--on" in fragment.chunks[0].codes


def test_a_ruled_table_is_one_region_with_a_row_a_line_and_its_caption() -> None:
    document = new_pdf([[Text("The lamps differ in price."), Text("Table 1: Prices of lamps")]])
    page = document[0]
    for row, cells in enumerate([("Lamp", "Price"), ("Desk lamp", "12"), ("Floor lamp", "40")]):
        for column, cell in enumerate(cells):
            box = pymupdf.Rect(72 + column * 120, 150 + row * 20, 192 + column * 120, 170 + row * 20)
            page.draw_rect(box)
            page.insert_text((box.x0 + 4, box.y1 - 6), cell, fontsize=10)
    fragment = parse(document.tobytes())

    assert [table.text for table in regions(fragment, RegionType.TABLE)] == [
        "Lamp\tPrice\nDesk lamp\t12\nFloor lamp\t40"
    ]
    assert chunk_with(fragment, "Desk lamp").captions == ("Table 1: Prices of lamps",)
    assert [table.caption for table in regions(fragment, RegionType.TABLE)] == ["Table 1: Prices of lamps"]
    assert not any("Floor lamp" in chunk.text for chunk in fragment.chunks if "Desk" not in chunk.text)


def test_contents_pages_are_regions_but_no_chunks() -> None:
    rows = "\n".join(f"Topic number {number} {'. ' * 20}{number}" for number in range(2, 12))
    pages = [[heading("Contents"), Text(rows)], *([Text(prose(f"topic{number}", 8))] for number in range(9))]
    fragment = parse(pdf_bytes(pages))

    assert not any(". . ." in chunk.text for chunk in fragment.chunks)
    assert any(". . ." in region.text for region in regions(fragment, RegionType.LIST))


def test_signs_without_a_letter_are_a_region_but_no_chunk() -> None:
    document = new_pdf([[heading("Lamps"), Text(prose("lamp"))], [heading("Plugs"), Text("...")]])
    fragment = parse(document.tobytes())

    assert "..." in [region.text for region in regions(fragment, RegionType.PARAGRAPH)]
    assert not any(chunk.text == "..." for chunk in fragment.chunks)
