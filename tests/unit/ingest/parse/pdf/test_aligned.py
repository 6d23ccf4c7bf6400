"""Tables whose columns only line up, and what else lines up without being one."""

import time
from collections.abc import Sequence

import pytest

from ingest.parse.pdf.aligned import find_aligned
from ingest.parse.pdf.cells import is_table_caption, is_unit, text_rows
from ingest.parse.pdf.opening import Word

HARBOURS = [
    ("", "2019", "2020", "2021"),
    ("North", "1,204", "1,310", "(45)"),
    ("Middle", "12.5%", "–", "9.1%"),
    ("South", "$ 310", "$ 298", "$ 305"),
]


def printed(lines: Sequence[Sequence[str]], *, top: float = 100.0, left: float = 72.0) -> list[Word]:
    """Words of rows 14 pt apart; cells begin 90 pt apart, a letter is 5 pt wide."""
    words: list[Word] = []
    for number, cells in enumerate(lines):
        y = top + 14 * number
        for column, cell in enumerate(cells):
            x = left + 90 * column
            for word in cell.split():
                words.append((x, y, x + 5 * len(word), y + 12, word))
                x += 5 * len(word) + 3
    return words


def texts(words: Sequence[Word]) -> list[tuple[tuple[str, ...], ...]]:
    return [table.texts() for table in find_aligned(text_rows(words))]


def test_two_columns_of_figures_are_a_table_without_any_ruling() -> None:
    assert texts(printed(HARBOURS)) == [tuple(HARBOURS)]


def test_a_sign_of_currency_far_from_its_number_is_one_cell_with_it() -> None:
    (row,) = text_rows([(72, 0, 77, 12, "$"), (130, 0, 150, 12, "310")])
    assert [cell.text for cell in row.cells] == ["$ 310"]


def test_prose_in_two_columns_is_no_table() -> None:
    lines = [("the lamp that gives", "of oil is burnt in")] * 6
    assert texts(printed(lines)) == []


@pytest.mark.parametrize(
    "lines",
    [
        [(f"{number} Lamps", f"{7 * number}") for number in range(1, 9)],
        [(f"{number}", "Lamps of the harbour", "", f"{7 * number}") for number in range(1, 9)],
        [("Lamps . . . . . . .", f"{number}", f"{number}") for number in range(1, 9)],
    ],
)
def test_a_list_of_contents_is_no_table(lines: Sequence[Sequence[str]]) -> None:
    assert texts(printed(lines)) == []


def test_the_axes_of_a_plot_are_no_table() -> None:
    axis = [("100", "", "", ""), ("80", "", "", ""), ("60", "", "40", ""), ("20", "40", "60", "80")]
    assert texts(printed(axis)) == []


def test_one_column_of_figures_needs_a_caption() -> None:
    lines = [(name, f"{price}.50") for name, price in (("Desk lamp", 12), ("Floor lamp", 40), ("Wall", 7))]
    assert texts(printed(lines)) == []
    assert texts(printed([("Table 2. Prices",), *lines])) == [tuple(lines)]


def test_two_tables_are_parted_by_the_caption_between_them() -> None:
    words = printed([*HARBOURS, ("Table 2: Lamps in",), *HARBOURS])
    assert texts(words) == [tuple(HARBOURS), tuple(HARBOURS)]


def test_a_heading_with_a_number_above_a_table_stays_out_of_it() -> None:
    heading = [(72.0, 86.0, 82.0, 98.0, "4."), (100.0, 86.0, 140.0, 98.0, "Harbours")]
    assert texts([*heading, *printed(HARBOURS)]) == [tuple(HARBOURS)]


def test_a_long_name_of_a_row_does_not_cut_a_table() -> None:
    words = printed(HARBOURS, left=300)
    name = "ships of more than one hundred tons that stay over night in"
    words += [(72.0 + 4 * at, 121.0, 75.0 + 4 * at, 125.0, word) for at, word in enumerate(name.split())]
    assert len(texts(words)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Table 3: Prices",
        "Table 3",
        "TABLE A-1. Prices",
        "Tabelle 2.4 Preise",
        "Tableau IV – Prix",
        "Tab. 7 Prezzi",
    ],
)
def test_lines_that_name_a_table(text: str) -> None:
    assert is_table_caption(text)


@pytest.mark.parametrize(
    "text", ["Table 3 shows the prices", "Tables are set below", "Table of contents", "see Table 3"]
)
def test_lines_of_prose_about_tables(text: str) -> None:
    assert not is_table_caption(text)


@pytest.mark.parametrize(
    "text",
    [
        "(in thousands)",
        "EUR million",
        "in % of all ships",
        "Unit: kg",
        "€ billions",
        "(years)",
        "in hours",
        "Millions",
    ],
)
def test_lines_that_say_in_what_a_table_counts(text: str) -> None:
    assert is_unit(text)


@pytest.mark.parametrize(
    "text",
    [
        "In fog the horn sounds.",
        "Yearly fees",
        "Year Ended",
        "Days of rest",
        "Numbering of berths",
        "In the harbour",
        "Thousands of users rely on this tool",
    ],
)
def test_lines_that_name_no_unit(text: str) -> None:
    assert not is_unit(text)


def test_thousands_of_texts_on_a_line_are_given_up_at_once() -> None:
    words = [(x * 4.0, y * 14.0, x * 4.0 + 1, y * 14.0 + 2, "7") for y in range(5) for x in range(2_000)]
    began = time.process_time()
    assert texts(words) == []
    assert time.process_time() - began < 10
