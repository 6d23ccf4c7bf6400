"""JSON that is printed."""

import json

from schemas.redaction import to_json


def test_what_nobody_sees_is_escaped_and_all_else_stands() -> None:
    value = {"title": "Grüße \x9b31m \u202eabc \u2028 日本"}

    text = to_json(value)

    assert "Grüße" in text
    assert "日本" in text
    assert not set(text) & {"\x9b", "\u202e", "\u2028"}
    assert json.loads(text) == value
