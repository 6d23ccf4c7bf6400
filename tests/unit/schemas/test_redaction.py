"""What may stand in a log line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import ConfigError, FetchRefused
from schemas.redaction import one_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://h.example/a?page=2&token=abc#top", "https://h.example/a?page=2&token=***#top"),
        ("https://h.example/?api_key=abc&b=1", "https://h.example/?api_key=***&b=1"),
        ("https://h.example/?accessToken=abc", "https://h.example/?accessToken=***"),
        ("https://h.example/?PASSWORD=abc;sig=x/y%3D", "https://h.example/?PASSWORD=***;sig=***"),
        ("https://h.example/?X-Amz-Signature=ab12", "https://h.example/?X-Amz-Signature=***"),
        ("to https://user:pw@h.example/ and", "to https://***@h.example/ and"),
        ("postgresql://me:pw@127.0.0.1/db", "postgresql://***@127.0.0.1/db"),
        ("https://h.example/a?keyword=bell&tokens=2", "https://h.example/a?keyword=bell&tokens=2"),
        ("mail me@h.example, key=7 stays", "mail me@h.example, key=7 stays"),
        ("two\r\nlines\n  and more", "two lines and more"),
        ("\x1b[31mred\x07 \x9b2J\u202egnp.exe", "\\x1b[31mred\\x07 \\x9b2J\\x202egnp.exe"),
        ("", ""),
    ],
)
def test_a_line_shows_no_secret_and_moves_no_cursor(text: str, shown: str) -> None:
    assert one_line(text) == shown


@given(st.text())
def test_any_text_becomes_one_printable_line_and_stays_it(text: str) -> None:
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    assert not any(ord(sign) < 32 or 127 <= ord(sign) < 160 for sign in line)
    assert one_line(line) == line


def test_an_error_names_its_subject_without_its_secrets() -> None:
    error = FetchRefused("is not public\nFORGED: line", subject="https://h.example/?token=abc")
    assert str(error) == "https://h.example/?token=***: is not public FORGED: line"
    assert str(ConfigError("unknown key \x1b[2J")) == "unknown key \\x1b[2J"
