"""Numbers as cells show them. Unless it says otherwise, what is wanted is what LibreOffice 7.4.7 shows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.parse.formats.number_formats import BUILT_IN, is_date_format, show_number

ACCOUNT = '_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)'


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (1234567890123, "General", "1234567890123"),
        (0.1 + 0.2, "General", "0.3"),
        (12345678901.5, "General", "12345678901.5"),
        (9999999999.5, "General", "9999999999.5"),
        (-1234.567, "", "-1234.567"),
        (1234.5, "0", "1235"),
        (2.5, "0", "3"),
        (1.005, "0.00", "1.01"),
        (-0.001, "0.00", "0.00"),
        (1234567.891, "#,##0.00", "1,234,567.89"),
        (0.256, "0.0%", "25.6%"),
        (1234.5, '"$"#,##0.00', "$1,234.50"),
        (12.5, "#,##0.00\\ [$€-407]", "12.50 €"),
        (1234.5, "[$£-809]#,##0.00", "£1,234.50"),
        (-1234.5, "#,##0.00;[Red]-#,##0.00", "-1,234.50"),
        (-1234.5, ACCOUNT, "$(1,234.50)"),
        (0, ACCOUNT, "$-"),
        (0, '#,##0;(#,##0);"nil"', "nil"),
        (1234567.891, '0.0,,"M"', "1.2M"),
        (1234567, "0000000000", "0001234567"),
        (5551234567, "(000) 000-0000", "(555) 123-4567"),
        (0.12345, "0.00E+00", "1.23E-01"),
        (45292, "##0.0E+0", "45.3E+3"),
        (12, '0" kg"', "12 kg"),
        (7, ";;;", ""),
        (12, "@", "12"),
        (45292, "yyyy-mm-dd", "2024-01-01"),
        (45292.75, "dd/mm/yyyy hh:mm AM/PM", "01/01/2024 06:00 PM"),
        (45292, "[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy", "Monday, January 01, 2024"),
        (45657.999, "d mmm yy", "31 Dec 24"),
        (45292.75, "mmm-yy", "Jan-24"),
        (2.5, "[h]:mm:ss", "60:00:00"),
        (0.12345, "h:mm:ss", "2:57:46"),
        (0.12345, "mm:ss.0", "57:46.1"),
    ],
)
def test_a_number_is_shown_by_its_format(value: float, code: str, shown: str) -> None:
    assert show_number(value, code) == shown


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (1, "yyyy-mm-dd", "1900-01-01"),  # as Excel counts; LibreOffice has one day less up to February 1900
        (2.75, "# ?/?", "2.75"),
        (1234567.5, '[>=1000000]0.0,,"M";0', "1234567.5"),
        (-3, "[>=100]0;[<0](0);0.0", "-3"),
        (-1, "yyyy-mm-dd", "-1"),
        (5_551_234_567, "d mmm", "5551234567"),
        (1e300, "0.00", "1E+300"),
    ],
)
def test_what_a_format_cannot_show_is_the_number(value: float, code: str, shown: str) -> None:
    assert show_number(value, code) == shown


def test_days_are_counted_from_1904_where_the_file_says_so() -> None:
    assert show_number(0, "yyyy-mm-dd", since_1904=True) == "1904-01-01"
    assert show_number(2.5, "[h]:mm:ss", since_1904=True) == "60:00:00"


def test_formats_that_depend_on_the_system_are_written_as_iso_dates() -> None:
    assert show_number(45292.5, BUILT_IN[14]) == "2024-01-01"
    assert show_number(45292.5, BUILT_IN[22]) == "2024-01-01 12:00"
    assert [number for number in BUILT_IN if is_date_format(BUILT_IN[number])] == [
        *range(14, 23),
        *range(27, 37),
        *range(45, 48),
        *range(50, 59),
    ]


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.text('0#?.,%E+-;"\\[]$hmsdyAMP/ _*@é<>1', max_size=30),
)
def test_whatever_stands_in_a_format_something_is_shown(value: float, code: str) -> None:
    assert isinstance(show_number(value, code), str)
