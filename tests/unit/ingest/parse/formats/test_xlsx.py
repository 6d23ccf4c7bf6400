"""XLSX: what comes of sheets, tables, headers, formats, what is merged and what is hidden."""

import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.worksheet.table import Table

from schemas.fragment import GraphFragment
from tests.fakes.office_files import fill, repacked, saved
from tests.fakes.pages import links_of, parse_file, sections_of, texts_of
from tests.fakes.secret_samples import github_token

SAMPLES = Path(__file__).parents[4] / "samples" / "formats"
parse = partial(parse_file, path="papers/prices.xlsx")


def sheet_of(*tables: tuple[str, tuple[tuple[Any, ...], ...]], **more: str) -> GraphFragment:
    """The fragment of a workbook with a sheet `Prices` that has tables from cells on (`B3`)."""
    return parse(saved(filled(*tables)), **more)


def filled(*tables: tuple[str, tuple[tuple[Any, ...], ...]]) -> openpyxl.Workbook:
    made = openpyxl.Workbook()
    made.active.title = "Prices"
    for start, rows in tables:
        cell = made.active[start]
        fill(made.active, cell.row, rows, cell.column)
    return made


OIL = (("Oil", "Price"), ("rape", 3), ("paraffin", 4))


def test_a_sheet_is_a_section_and_its_table_has_a_line_for_each_row() -> None:
    fragment = sheet_of(("A1", OIL))

    assert texts_of(fragment) == {"Prices": "Oil | Price\nrape | 3\nparaffin | 4"}
    assert (fragment.kind, fragment.title) == ("xlsx", "prices.xlsx")
    assert [chunk.fragment for chunk in fragment.chunks] == ["Prices!A1"]


def test_every_passage_of_a_long_table_names_its_columns() -> None:
    rows = tuple((f"oil {number}", number, number * 2) for number in range(300))
    fragment = sheet_of(("A1", (("Oil", "Price", "Twice"), *rows)))

    assert len(fragment.chunks) > 3
    assert {chunk.text.partition("\n")[0] for chunk in fragment.chunks} == {"Oil | Price | Twice"}
    assert sum(chunk.text.count("\n") for chunk in fragment.chunks) == len(rows)


def test_under_a_long_header_each_cell_has_the_name_of_its_column() -> None:
    names = tuple(f"Question {number} of the yearly survey" for number in range(30))
    fragment = sheet_of(("A1", (names, tuple(range(30)), tuple(range(30, 60)))))

    lines = [line for chunk in fragment.chunks for line in chunk.text.split("\n")]
    assert "Question 7 of the yearly survey: 7" in lines[0]
    assert all(piece.startswith("Question ") for line in lines for piece in line.split(" | "))


def test_tables_stand_apart_by_empty_rows_and_columns() -> None:
    buoys = (("Buoy", "Colour"), ("outer", "red"))
    fragment = sheet_of(("A1", OIL), ("E1", buoys), ("B8", (("Rope", "Metres"), ("bow", 20))))

    assert texts_of(fragment)["Prices"].split("\n\n") == [
        "Oil | Price\nrape | 3\nparaffin | 4",
        "Buoy | Colour\nouter | red",
        "Rope | Metres\nbow | 20",
    ]
    (chunk,) = fragment.chunks
    assert {chunk.fragment, *chunk.fragments} == {"Prices!A1", "Prices!E1", "Prices!B8"}


def test_a_table_goes_on_behind_an_empty_row() -> None:
    fragment = sheet_of(("A1", OIL), ("A5", (("Sum", 7),)), ("A9", (("Far", 8),)))

    assert texts_of(fragment)["Prices"] == "Oil | Price\nrape | 3\nparaffin | 4\nSum | 7\n\nFar | 8"


def test_a_cell_alone_over_a_table_is_its_heading() -> None:
    fragment = sheet_of(("A1", (("Oil by kind",),)), ("A2", OIL), ("A7", (("Rope",),)), ("A9", OIL))

    assert [section.heading_path for section in sections_of(fragment)] == [
        ("Prices",),
        ("Prices", "Oil by kind"),
        ("Prices", "Rope"),
    ]
    assert texts_of(fragment)["Rope"] == "Oil | Price\nrape | 3\nparaffin | 4"


def test_merged_cells_are_repeated_and_names_over_several_columns_are_header() -> None:
    made = filled(
        ("A1", (("Season", "Paid", None), (None, "Day", "Price"), ("Summer", 21, 3), ("All year",)))
    )
    for merged in ("A1:A2", "B1:C1", "A4:C4"):
        made.active.merge_cells(merged)
    fill(made.active, 5, (("Winter", 22, 4),))
    (chunk,) = parse(saved(made)).chunks

    assert (
        chunk.text == "Season | Paid | Paid\nSeason | Day | Price\nSummer | 21 | 3\nAll year\nWinter | 22 | 4"
    )


def test_years_may_name_columns_and_other_numbers_do_not() -> None:
    years = sheet_of(("A1", (("Oil", 2023, 2024), *((f"oil {n}", n, n) for n in range(200)))))
    numbers = sheet_of(("A1", tuple((f"oil {n}", n, n) for n in range(200))))

    assert {chunk.text.partition("\n")[0] for chunk in years.chunks} == {"Oil | 2023 | 2024"}
    assert len({chunk.text.partition("\n")[0] for chunk in numbers.chunks}) == len(numbers.chunks) > 1


def test_what_the_file_calls_a_table_begins_with_its_header() -> None:
    made = filled(("A1", OIL), ("A6", OIL))
    made.active.add_table(Table(displayName="Oils", ref="A1:B3"))

    (section,) = sections_of(parse(saved(made)))
    assert section.text.count("Oil | Price") == 2


def test_what_is_hidden_is_left_out_and_counted() -> None:
    made = filled(("A1", (("Oil", "Cost", "Price"), ("rape", 1, 3), ("paraffin", 2, 4), ("train", 3, 5))))
    made.active.column_dimensions["B"].hidden = True
    made.active.row_dimensions[3].hidden = True
    made.create_sheet("Workings").sheet_state = "veryHidden"
    made["Workings"]["A1"] = "never"
    fragment = parse(saved(made))

    assert texts_of(fragment) == {"Prices": "Oil | Price\nrape | 3\ntrain | 5"}
    assert fragment.warnings == ("left out as hidden: sheets 1, rows 1, columns 1",)
    assert fragment.coverage is not None
    assert fragment.coverage.lost == 0


def test_formulas_have_the_value_that_the_file_has_of_them() -> None:
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer) as made:
        sheet = made.add_worksheet("Prices")
        sheet.write_row(0, 0, ["Oil", "Price"])
        sheet.write_row(1, 0, ["rape", 3])
        sheet.write(2, 0, "Sum")
        sheet.write_formula(2, 1, "=SUM(B2:B2)", made.add_format({"num_format": "0.00 €"}), 3)
        sheet.write_url(3, 0, "https://example.org/oil", string="more")
        sheet.write_boolean(3, 1, True)
    fragment = parse(buffer.getvalue())
    unvalued = sheet_of(("A1", OIL), ("A4", (("Sum", "=SUM(B2:B3)"),)))

    assert texts_of(fragment)["Prices"] == "Oil | Price\nrape | 3\nSum | 3.00 €\nmore | TRUE"
    assert links_of(fragment)["more"].target == "https://example.org/oil"
    assert unvalued.warnings == (
        "formulas without a value in the file: 1; save it with a program that calculates them",
    )


def test_values_that_libreoffice_has_calculated_are_read() -> None:
    (section,) = sections_of(parse((SAMPLES / "xlsx.2.xlsx").read_bytes()))

    assert "2024-05-16 | 16 | 40\nSum | 27 | 67.5" in section.text


def claims(data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    return repacked(data, lambda name, xml: change(xml) if name == "xl/worksheets/sheet1.xml" else xml)


def test_a_sheet_that_claims_every_cell_there_is_costs_what_it_has() -> None:
    data = saved(filled(("A1", OIL)))
    far = b'<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>far</t></is></c></row></sheetData>'
    everything = b'<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>'
    claimed = claims(data, lambda xml: xml.replace(b'ref="A1:B3"', b'ref="A1:XFD1048576"'))
    merged = claims(data, lambda xml: xml.replace(b"</sheetData>", far + everything))

    assert texts_of(parse(claimed)) == texts_of(parse(data))
    assert texts_of(parse(merged))["Prices"] == "Oil | Price\nrape | 3\nparaffin | 4\n\nfar"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'r="B2"', b'r="ZZZZ9"'),
        (b'r="B2"', b""),
        (b'<row r="2"', b'<row r="' + b"9" * 5_000 + b'"'),
        (b'<c r="B2"', b'<c r="B2" t="n" s="x"'),
        (b'<c r="B2"', b'<c r="B2" s="77"'),
        (b'<c r="A2" t="s"', b'<c r="A2" t="unheard"'),
        (b'"B2"><v>3<', b'"B2"><v>abc<'),
        (b'"B2"><v>3<', b'"B2" t="str"><v>_xD800_<'),
        (b'"B2"><v>3<', b'"B2"><v>1e999<'),
        (b"<v>2</v>", b"<v>4000</v>"),
        (b"<sheetData>", b'<cols><col min="a" max="b" hidden="1"/></cols><sheetData>'),
        (b"</sheetData>", b'</sheetData><mergeCells><mergeCell ref="C3:A1"/><mergeCell/></mergeCells>'),
    ],
)
def test_what_is_wrong_in_one_place_of_a_sheet_costs_no_other(old: bytes, new: bytes) -> None:
    with xlsxwriter.Workbook(buffer := io.BytesIO()) as made:
        sheet = made.add_worksheet("Prices")
        for row, cells in enumerate(OIL):
            sheet.write_row(row, 0, cells)
    spoilt = claims(buffer.getvalue(), lambda xml: xml.replace(old, new))

    assert spoilt != claims(buffer.getvalue(), lambda xml: xml)
    assert "paraffin" in texts_of(parse(spoilt))["Prices"]


def test_cells_far_apart_are_no_table_of_empty_cells() -> None:
    made = openpyxl.Workbook()
    for number in range(1, 600):
        made.active.cell(number, number, f"c{number}")

    (section,) = sections_of(parse(saved(made)))
    assert len(section.text) < 20_000


PLACES = st.tuples(st.integers(1, 14), st.integers(1, 9))
VALUES = st.one_of(st.integers(0, 9_999).map(lambda n: f"word{n}"), st.integers(1_000, 9_999))


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(PLACES, VALUES, min_size=1, max_size=60), st.sets(st.integers(1, 9), max_size=2))
def test_however_cells_lie_on_a_sheet_no_word_is_lost_or_said_twice(
    cells: dict[tuple[int, int], str | int], hidden: set[int]
) -> None:
    made = openpyxl.Workbook()
    for (row, column), value in cells.items():
        made.active.cell(row, column, value)
    for column in hidden:
        made.active.column_dimensions["ABCDEFGHI"[column - 1]].hidden = True
    if all(column in hidden for _, column in cells):
        return
    coverage = parse(saved(made)).coverage

    assert coverage is not None
    assert (coverage.lost, coverage.invented) == (0, 0)
    assert sum(count for _, count in coverage.dropped) == sum(column in hidden for _, column in cells)


def test_who_may_see_it_is_named_in_the_first_rows() -> None:
    assert sheet_of(("A1", (("access", "hr"),)), ("A3", OIL)).access
    assert sheet_of(("A1", (("Access: hr",),)), ("A3", OIL)).access
    assert not sheet_of(("A1", (("Access", "Role", "Since"), ("door", "keeper", 3)))).access


def test_a_secret_in_a_hidden_sheet_or_a_comment_is_told() -> None:
    token = github_token()
    made = filled(("A1", OIL))
    made.create_sheet("Workings").sheet_state = "hidden"
    made["Workings"]["A1"] = token
    fragment = parse(saved(made))

    assert fragment.secrets
    assert not any(token in chunk.text for chunk in fragment.chunks)
