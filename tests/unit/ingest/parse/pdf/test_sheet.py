"""A page made ready to be read: tables stand in place of the lines that are their cells."""

from ingest.parse.pdf.lines import Line
from ingest.parse.pdf.page import PageContent
from ingest.parse.pdf.sheet import build_sheets
from ingest.parse.pdf.tables import Table
from schemas.nodes import BBox, PageSize


def line(text: str, top: float) -> Line:
    return Line(text=text, bbox=BBox(72, top, 300, top + 10), size=10)


def test_text_above_and_below_a_table_in_one_block_does_not_reach_around_it() -> None:
    box = BBox(70, 212, 310, 238)
    rows = (("Lamp", "Price"), ("Desk", "12"))
    table = Table(bbox=box, rows=rows, boxes=(box, box))
    above, below = line("Lamps differ in price.", 200), line("Prices rise.", 240)
    block = (above, line("Lamp Price", 213), line("Desk 12", 226), below)
    page = PageContent(page_no=1, size=PageSize(595, 842), blocks=(block,), tables=(table,))

    (sheet,) = build_sheets([page])
    assert sheet.items == ((above,), table, (below,))
    assert sheet.lines == (above, below)
    assert sheet.ranges == ((0, 1), (1, 2))


def test_a_table_of_several_blocks_stands_once_where_its_first_line_stood() -> None:
    box = BBox(70, 212, 310, 238)
    table = Table(bbox=box, rows=(("Lamp", "12"), ("Desk", "40")), boxes=(box, box))
    blocks = ((line("Lamp 12", 213),), (line("Text.", 300),), (line("Desk 40", 226),))
    page = PageContent(page_no=1, size=PageSize(595, 842), blocks=blocks, tables=(table,))

    (sheet,) = build_sheets([page])
    assert sheet.items == (table, (line("Text.", 300),))
