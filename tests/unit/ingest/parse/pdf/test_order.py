"""Reading order: the file's, but for files that hop between columns."""

from ingest.parse.pdf.lines import Block, Line
from ingest.parse.pdf.order import box_of, column_of, find_gutter, order_blocks
from schemas.nodes import BBox

WIDTH = 600.0


def block(name: str, x0: float, y0: float, x1: float) -> Block:
    return (Line(text=name, bbox=BBox(x0, y0, x1, y0 + 40), size=10),)


def left(name: str, y0: float) -> Block:
    return block(name, 50, y0, 290)


def right(name: str, y0: float) -> Block:
    return block(name, 310, y0, 550)


def read(*blocks: Block) -> str:
    gutter = find_gutter([box_of(one) for one in blocks], WIDTH)
    return " ".join(one[0].text for one in order_blocks(blocks, gutter))


def test_columns_stored_one_after_the_other_keep_their_order() -> None:
    assert read(left("a", 100), left("b", 150), right("c", 100), right("d", 150)) == "a b c d"


def test_columns_stored_row_by_row_are_read_one_after_the_other() -> None:
    rows = [left("a", 100), right("d", 100), left("b", 150), right("e", 150), left("c", 200), right("f", 200)]

    assert read(*rows) == "a b c d e f"


def test_a_block_across_both_columns_parts_what_is_above_from_what_is_below() -> None:
    rows = [left("a", 100), right("c", 100), left("b", 150), right("d", 150), block("-", 50, 200, 550)]
    rows += [left("e", 250), right("g", 250), left("f", 300), right("h", 300), left("i", 350)]

    assert read(*rows) == "a b c d - e f i g h"


def test_numbers_decide_whether_rows_or_columns_are_read_first() -> None:
    by_columns = [left("1. a", 100), right("3. c", 100), left("2. b", 300), right("4. d", 300)]
    by_rows = [left("1. a", 100), right("2. b", 100), left("3. c", 200), right("4. d", 200)]
    by_rows += [left("5. e", 300), right("6. f", 300)]

    assert read(*by_columns) == "1. a 2. b 3. c 4. d"
    assert read(*by_rows) == "1. a 2. b 3. c 4. d 5. e 6. f"


def test_terms_beside_their_definitions_are_no_columns() -> None:
    rows = [
        part
        for row, name in enumerate("abcd")
        for part in (block(name, 50, 100 + 50 * row, 110), block(name.upper(), 250, 100 + 50 * row, 550))
    ]

    assert read(*rows) == "a A b B c C d D"


def test_a_box_is_in_the_left_the_right_or_both_columns() -> None:
    boxes = [box_of(one) for one in (left("a", 0), right("b", 0), block("-", 50, 0, 550))]

    assert [column_of(box, 300) for box in boxes] == [0, 1, -1]
    assert [column_of(box, None) for box in boxes] == [0, 0, 0]
