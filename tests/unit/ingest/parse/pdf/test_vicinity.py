"""What stands together on a page is a passage; what only follows in the file is another."""

from pathlib import Path

import pytest

from ingest.parse.pdf.part_groups import page_text, part_by_place
from schemas.fragment import GraphFragment
from schemas.nodes import BBox, RegionType
from tests.fakes.pdfs import chunk_with, parse, regions

TIDE_CHART = Path(__file__).parents[4] / "golden/documents/pdf/reportlab-tide-chart.pdf"
"""What ReportLab makes of a page whose chart and running line are stored behind the text around them."""

ABOVE, BELOW = BBox(72, 100, 500, 150), BBox(72, 400, 500, 450)
CHART = [BBox(100 + 40 * x, 200 + 40 * y, 110 + 40 * x, 210 + 40 * y) for x in range(4) for y in (3, 0, 2)]
HEADER = BBox(72, 20, 200, 30)


@pytest.fixture(scope="module")
def tide_chart() -> GraphFragment:
    return parse(TIDE_CHART.read_bytes())


def parts_of(*texts: tuple[BBox, bool], others: tuple[BBox, ...] = ()) -> list[list[int]]:
    boxes, labels = [box for box, _ in texts], [label for _, label in texts]
    return [list(part) for part in part_by_place(boxes, labels, page_text((*boxes, *others)))]


def prose(*boxes: BBox) -> list[tuple[BBox, bool]]:
    return [(box, False) for box in boxes]


def labels(*boxes: BBox) -> list[tuple[BBox, bool]]:
    return [(box, True) for box in boxes]


def test_paragraphs_with_white_between_them_are_one_and_with_other_text_two() -> None:
    assert parts_of(*prose(ABOVE, BELOW)) == [[0, 1]]
    assert parts_of(*prose(ABOVE, BELOW), others=(BBox(200, 250, 300, 260),)) == [[0], [1]]


def test_the_labels_of_a_chart_are_one_part_in_whatever_order_they_are_stored() -> None:
    parts = parts_of(*prose(ABOVE, BELOW), *labels(*CHART))

    assert parts == [[0], [1], list(range(2, 2 + len(CHART)))]


def test_labels_far_from_each_other_are_no_part() -> None:
    number = BBox(300, 800, 320, 810)

    assert parts_of(*labels(HEADER, number), others=(ABOVE, BELOW)) == [[0], [1]]


def test_the_rows_of_a_table_go_on_below_its_longer_cells() -> None:
    rows = [
        (BBox(72, y, 300, y + 40), BBox(320, y, 400, y + 12))
        # The second line of the left cell stands between the right cell and the next row.
        for y in (100, 150, 200)
    ]
    lines = tuple(BBox(72, y + line, 300, y + line + 12) for y in (100, 150, 200) for line in (0, 14, 28))
    cells = [cell for row in rows for cell in row]
    found = part_by_place(cells, [False] * 6, page_text((*lines, *(right for _, right in rows))))

    assert found == (tuple(range(6)),)


@pytest.mark.timeout(60)
def test_a_page_of_nothing_but_labels_takes_time_in_proportion_to_them() -> None:
    corners = [(72 + 97 * at % 400, 100 + 89 * at % 600) for at in range(20_000)]
    scattered = [BBox(x, y, x + 10, y + 8) for x, y in corners]

    assert sum(map(len, parts_of(*labels(*scattered)))) == len(scattered)


def test_no_box_of_a_passage_holds_lines_of_another(tide_chart: GraphFragment) -> None:
    boxes = [chunk.bbox for chunk in tide_chart.chunks if chunk.bbox is not None]

    assert len(boxes) == len(tide_chart.chunks) > 4
    assert not any(one.holds_middle_of(other) for one in boxes for other in boxes if one is not other)


def test_the_labels_of_a_chart_and_a_running_line_leave_the_paragraphs(tide_chart: GraphFragment) -> None:
    assert chunk_with(tide_chart, "The gate is closed").text.endswith("until the levels are equal.")
    assert chunk_with(tide_chart, "August").text.startswith("May June July August")
    assert chunk_with(tide_chart, "Handbook").text == "Handbook of the sluice"


def test_labels_in_a_drawing_with_a_caption_are_no_headings(tide_chart: GraphFragment) -> None:
    assert [heading.text for heading in regions(tide_chart, RegionType.HEADING)] == ["High water"]
    assert chunk_with(tide_chart, "Inner gate").text == "Outer gate Inner gate"


def test_a_number_below_all_text_of_a_page_joins_no_text_above_it(tide_chart: GraphFragment) -> None:
    assert chunk_with(tide_chart, "17").text == "17"
