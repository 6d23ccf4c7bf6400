"""Where a table stands in the order of its page when the file stores it after the text below it."""

import pytest

from ingest.parse.pdf.lines import Block, Line
from ingest.parse.pdf.order import box_of
from ingest.parse.pdf.page import PageContent
from ingest.parse.pdf.sheet import Item, Title, place_tables
from ingest.parse.pdf.structure import build_structure
from ingest.parse.pdf.tables import Table
from schemas.nodes import BBox, PageSize


def block(
    text: str, top: float, *, lines: int = 1, left: float = 72, right: float = 520, size: float = 10
) -> Block:
    boxes = (BBox(left, top + 12 * row, right, top + 12 * row + 10) for row in range(lines))
    return tuple(Line(text=text, bbox=box, size=size) for box in boxes)


def table(top: float, *, left: float = 72, right: float = 520, on_its_side: bool = False) -> Table:
    rows = tuple(BBox(left, top + 12 * row, right, top + 12 * row + 12) for row in range(3))
    box = BBox(left, top, right, top + 36)
    boxes = (box,) * 3 if on_its_side else rows
    return Table(bbox=box, rows=(("Lamp", "Price"), ("Desk", "12"), ("Wall", "40")), boxes=boxes)


def read(*items: Block | Table) -> list[str]:
    return [_name(item) for item in place_tables(items, 842)]


def _name(item: Item) -> str:
    if isinstance(item, Table):
        return f"table {item.bbox.y0:g}"
    return f"title {item.lines[0].text}" if isinstance(item, Title) else item[0].text


RISE = "Prices rise, and they rise again from year to year."
ABOVE, BELOW = block("Lamps differ.", 100, lines=3), block(RISE, 300, lines=3)


def test_a_table_stored_last_comes_before_the_text_below_it() -> None:
    assert read(ABOVE, block("2 Prices", 280), BELOW, table(200)) == [
        "Lamps differ.", "table 200", "2 Prices", RISE
    ]  # fmt: skip


def test_its_caption_and_the_note_below_it_move_with_it() -> None:
    caption, note = block("Table 3-1 Settings", 185), block("Source: shop", 240, size=8)

    assert read(ABOVE, BELOW, caption, table(200), note) == [
        "Lamps differ.", "Table 3-1 Settings", "table 200", "Source: shop", RISE
    ]  # fmt: skip


def test_a_caption_that_stands_right_stays() -> None:
    caption = block("Table 3-1 Settings", 185)

    assert read(ABOVE, caption, BELOW, table(200)) == [
        "Lamps differ.", "Table 3-1 Settings", "table 200", RISE
    ]  # fmt: skip


def test_order_that_agrees_with_the_page_stays() -> None:
    assert read(ABOVE, table(200), BELOW) == ["Lamps differ.", "table 200", RISE]
    assert read(table(100), BELOW, block("End.", 400)) == ["table 100", RISE, "End."]


def test_a_table_goes_before_a_heading_too_short_to_reach_below_it() -> None:
    heading = block("Wattage", 280, left=40, right=90)

    assert read(ABOVE, heading, BELOW, table(200, left=130)) == [
        "Lamps differ.", "table 200", "Wattage", RISE
    ]  # fmt: skip


def test_text_in_another_column_does_not_count() -> None:
    left = [block(name, top, lines=5, right=290) for name, top in (("a", 100), ("b", 200), ("c", 300))]
    right = [block(name, top, lines=5, left=310) for name, top in (("d", 200), ("e", 300))]

    at_the_top = table(100, left=310)
    assert read(*left, *right, at_the_top) == ["a", "b", "c", "table 100", "d", "e"]
    assert read(*left, at_the_top, *right) == ["a", "b", "c", "table 100", "d", "e"]


def test_tables_side_by_side_keep_their_order() -> None:
    one, other = table(200, right=290), table(201, left=310)

    assert read(ABOVE, BELOW, one, other) == ["Lamps differ.", "table 200", "table 201", RISE]


def test_tables_stored_last_come_in_the_order_of_the_page() -> None:
    middle = block("Shades differ.", 300, lines=3)

    assert read(ABOVE, middle, block("End.", 500), table(200), table(400)) == [
        "Lamps differ.", "table 200", "Shades differ.", "table 400", "End."
    ]  # fmt: skip


@pytest.mark.parametrize("first", ["Page 12", "Shop of lamps, 12 Harbour Street, page 12, printed today"])
def test_a_footer_stored_first_takes_no_heading_from_a_table(first: str) -> None:
    footer, heading = block(first, 800), block("Prices", 85)

    assert read(footer, heading, table(100), BELOW)[1:] == ["Prices", "table 100", RISE]


def test_a_footer_stored_first_stays_where_it_is_of_two_lines_or_text_after_the_table_stands_above_it() -> (
    None
):
    short, long = block("Page 12", 790, lines=2), block("Shop of lamps", 770, lines=4)

    assert read(short, table(100), block("Source: shop", 140)) == ["Page 12", "table 100", "Source: shop"]
    assert read(long, table(100), block("Prices rise again.", 300, lines=9))[1] == "table 100"


def test_text_right_above_a_table_keeps_it() -> None:
    assert read(BELOW, block("2.1 Prices", 185), table(200)) == [RISE, "2.1 Prices", "table 200"]


def test_a_table_on_its_side_stays() -> None:
    assert read(ABOVE, BELOW, table(200, on_its_side=True))[-1] == "table 200"


def test_the_title_of_a_table_stored_last_opens_no_section() -> None:
    title = block("What lamps cost in shops", 180, size=14)
    lamps, shades = block("Lamps", 72, size=18), block("Shades", 270, size=18)
    blocks = (lamps, ABOVE, shades, BELOW, title, block("Lamp Price", 202))
    page = PageContent(page_no=1, size=PageSize(595, 842), blocks=blocks, tables=(table(200),))
    parts = build_structure([page], (), "Manual").parts

    assert [(part.heading_path, part.table is not None) for part in parts] == [
        *[(("Lamps",), False)] * 3,
        (("Lamps",), True),
        *[(("Shades",), False)] * 2,
    ]
    assert [part.bbox for part in parts if part.caption] == [box_of(title)]
