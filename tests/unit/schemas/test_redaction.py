"""What may stand in a log line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import ConfigError, FetchRefused
from schemas.redaction import REDACTED, hide_values, one_line, pieces_of, redact, secrets_of
from schemas.secrets import find_secrets
from tests.fakes.secret_samples import draw, github_token, private_key, web_token


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


def test_a_message_shows_no_token() -> None:
    token = github_token()
    assert one_line(f"cannot parse: x = {token}") == "cannot parse: x = [redacted]"
    assert token not in str(ConfigError(f"bad line {token}", subject=token))


def test_a_place_behind_a_secret_moves_with_the_text() -> None:
    value = draw(30)
    hidden = hide_values(f"ab{value}cd{value}ef", {value})
    assert hidden.text == f"ab{REDACTED}cd{REDACTED}ef"
    moved = {"b": 1, "start": 2, "inside": 10, "c": 32, "d": 33, "e": 64, "end": 66}
    found = {name: hidden.text[hidden.at(place) :][:1] for name, place in moved.items()}
    assert found == {"b": "b", "start": "[", "inside": "[", "c": "c", "d": "d", "e": "e", "end": ""}


def test_values_that_overlap_leave_one_mark() -> None:
    text = draw(40)
    assert hide_values(f"a {text} b", {text[:25], text[15:], text[5:20]}).text == f"a {REDACTED} b"


_secrets = st.sampled_from([github_token(), private_key(lines=2), f'password = "{draw(24)}"', web_token()])
_texts = st.lists(st.one_of(st.text(max_size=20), _secrets, st.sampled_from("=:'\" \n"))).map("".join)


def test_a_secret_between_two_that_overlap_is_hidden_too() -> None:
    token, web = github_token(), web_token()
    assert token not in redact(f"{token}{web}{token}{private_key(lines=2)}{web}")


@given(_texts)
def test_redacting_twice_changes_no_more_than_once(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@given(st.text())
def test_a_text_without_secrets_is_as_it_was(text: str) -> None:
    assert find_secrets(text) or redact(text) == text


@given(_texts)
def test_places_keep_their_order_and_lie_in_the_text(text: str) -> None:
    hidden = hide_values(text, pieces_of(secrets_of(text)))
    places = [hidden.at(offset) for offset in range(len(text) + 1)]
    assert places == sorted(places)
    assert places[-1] == len(hidden.text)


@pytest.mark.parametrize(
    "text", ["?" * 100_000, " " * 100_000 + "x", "&a" * 100_000, "ésk-" * 50_000, "éeyJ" * 50_000]
)
def test_no_line_takes_long(text: str) -> None:
    assert one_line(text) == text


def test_spaces_stay_where_they_break_no_line() -> None:
    assert one_line("a  b \t\u2028 c") == "a  b c"
