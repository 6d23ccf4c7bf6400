"""Dates as they are written out there, and what is none."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from ingest.dates import date_in_words, dated, from_timestamp, utc_of
from schemas.nodes import Dated, DateOrigin


@pytest.mark.parametrize(
    ("written", "at"),
    [
        ("2024-05-03", "2024-05-03T00:00:00+00:00"),
        ("2024-05", "2024-05-01T00:00:00+00:00"),
        ("2024", "2024-01-01T00:00:00+00:00"),
        (2024, "2024-01-01T00:00:00+00:00"),
        (date(2024, 5, 3), "2024-05-03T00:00:00+00:00"),
        (datetime(2024, 5, 3, 1, tzinfo=timezone(timedelta(hours=2))), "2024-05-02T23:00:00+00:00"),
        ("2024-05-03T10:20:30.123Z", "2024-05-03T10:20:30+00:00"),
        ("2024-05-03T10:20:30+0530", "2024-05-03T04:50:30+00:00"),
        ("2024-05-03 10:20:30 +0200", "2024-05-03T08:20:30+00:00"),
        ("2024-05-03 10:20:30 UTC", "2024-05-03T10:20:30+00:00"),
        ("Fri, 03 May 2024 10:20:30 GMT", "2024-05-03T10:20:30+00:00"),
        ("D:20240503102030+02'00'", "2024-05-03T08:20:30+00:00"),
        ("D:20240503102030-05'30", "2024-05-03T15:50:30+00:00"),
        ("D:20240503102030Z00'00'", "2024-05-03T10:20:30+00:00"),
        ("D:202405", "2024-05-01T00:00:00+00:00"),
    ],
)
def test_a_date_becomes_iso_8601_in_utc(written: object, at: str) -> None:
    assert utc_of(written) == at


@pytest.mark.parametrize(
    "written",
    [
        *("", "soon", "2024-02-31", "2024-13-45", "03/04/2024", "3.4.2024", "1", "9" * 99, "D:99999999"),
        *("1970-01-01", "0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59-23:00", None, True, 17145, [], {}),
        *("D:20241399000000", "Fri, 99 May 2024 10:20:30 GMT", "\x00", "２０２４-05-03T99"),
    ],
)
def test_what_is_no_date_or_before_the_web_is_none_and_no_error(written: object) -> None:
    assert utc_of(written) is None
    assert dated(written, DateOrigin.META) is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Last updated on May 3, 2024.", "2024-05-03"),
        ("last edited on 3 May 2024, at 12:00", "2024-05-03"),
        ("Sept. 21st, 2023 by the editors", "2023-09-21"),
        ("Last updated 2024-05-03 17:12:05 UTC", "2024-05-03"),
        ("Last updated May\u00a03,\n 2024", "2024-05-03"),
        ("Last updated \u017fep 3, 2024", None),
        ("3 augu\u017ft 2024", None),
        ("maybe 12 2024", None),
        ("May 32, 2024", None),
        ("3 months ago", None),
        ("03/04/2024", None),
    ],
)
def test_a_date_in_an_english_sentence_is_read_where_it_is_beyond_doubt(text: str, day: str | None) -> None:
    assert date_in_words(text) == (f"{day}T00:00:00+00:00" if day else None)


def test_the_time_of_a_file_is_a_date_unless_it_lies_before_the_web() -> None:
    moment = datetime(2024, 5, 3, tzinfo=UTC)
    assert from_timestamp(moment.timestamp(), DateOrigin.FILE) == Dated(
        at="2024-05-03T00:00:00+00:00", origin=DateOrigin.FILE
    )
    assert [from_timestamp(odd, DateOrigin.FILE) for odd in (0.0, -1e30, 1e30, float("nan"))] == [None] * 4
