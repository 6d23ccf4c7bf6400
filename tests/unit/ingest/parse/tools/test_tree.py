"""JSON and YAML within limits."""

import pytest

from ingest.parse.tools import description
from ingest.parse.tools.description import load_json, load_yaml
from schemas.errors import ParseError

_BOMB = "a: &a [x, x]\n" + "".join(
    f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


def test_yaml_of_plain_values_is_read() -> None:
    assert load_yaml("tools:\n  - name: shop\n") == {"tools": [{"name": "shop"}]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (_BOMB, "anchors and aliases are not allowed"),
        ("[" * 5_000, "nested too deep|not valid YAML"),
        ("a: [" + "[" * 200 + "]" * 200 + "]", "nested too deep"),
        ("a: b: c", "line 1"),
        ("a: !!python/object:os.system x", "not valid YAML"),
        ("a: 2024-13-45", "not valid YAML"),
    ],
)
def test_hostile_or_broken_yaml_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ParseError, match=reason):
        load_yaml(text)


def test_large_yaml_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(description, "MAX_YAML_BYTES", 10)
    with pytest.raises(ParseError, match="write it as JSON"):
        load_yaml("a: " + "x" * 20)


@pytest.mark.parametrize(
    ("text", "reason"),
    [('{"a":' * 100_000, "too deep|not valid JSON"), ('{"a": }', "line 1"), ("9" * 5_000, "not valid JSON")],
)
def test_hostile_or_broken_json_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ParseError, match=reason):
        load_json(text)
