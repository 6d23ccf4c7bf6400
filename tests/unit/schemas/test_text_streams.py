"""Characters that an encoding lacks."""

import json
from io import BytesIO, TextIOWrapper

import pytest

from schemas.redaction import escape_unwritable

TEXT = 'before »it\'s "é" 😀\udcff« after'


def written(encoding: str, errors: str, text: str) -> str:
    stream = TextIOWrapper(BytesIO(), encoding=encoding, errors=errors)
    escape_unwritable(stream)
    stream.write(text)
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, BytesIO)
    return buffer.getvalue().decode(encoding)


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_json_says_the_same_in_every_encoding(encoding: str, errors: str) -> None:
    assert json.loads(written(encoding, errors, json.dumps(TEXT, ensure_ascii=False))) == TEXT


def test_what_the_encoding_has_stays_as_it_is() -> None:
    assert written("latin-1", "strict", "»é😀") == r"»é\ud83d\ude00"


def test_another_way_that_was_asked_for_is_kept() -> None:
    assert written("ascii", "replace", "»") == "?"
