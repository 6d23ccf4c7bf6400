"""Groups of readers, and names of audiences."""

import pytest

from schemas.access import as_groups, audience_name, groups_of_audience, narrow_groups, parse_groups
from schemas.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("public", "public"),
        ("staff, hr", "hr+staff"),
        ("hr+staff,public", "hr+staff"),
        ("allow=ai-input", "allow=ai-input"),
        ("*,allow=search,allow=ai-input", "allow=ai-input+allow=search"),
        ("public,allow=ai-input", "public+allow=ai-input"),
        ("allow=ai-input+staff", "staff+allow=ai-input"),
    ],
)
def test_an_audience_is_named_by_its_groups(text: str, name: str) -> None:
    groups = parse_groups(text, subject="--groups")
    assert audience_name(groups) == name
    assert groups_of_audience(name) == groups


@pytest.mark.parametrize("text", ["", " ", ",", "+"])
@pytest.mark.parametrize("uses", [None, "ai-input"])
def test_groups_that_are_none_do_not_open_the_whole_index(text: str, uses: str | None) -> None:
    with pytest.raises(ConfigError, match="names no group"):
        parse_groups(narrow_groups(text, uses, subject="--allow") or "", subject="--groups")


@pytest.mark.parametrize("names", [["allow=ai-input"], ["public", "allow=ai-input"]])
def test_a_token_that_is_narrowed_and_has_no_group_sees_what_is_public(names: list[str]) -> None:
    assert audience_name(as_groups(names, subject="tokens")) == "public+allow=ai-input"
    assert audience_name(as_groups(["*", "allow=ai-input"], subject="tokens")) == "allow=ai-input"


@pytest.mark.parametrize("uses", ["", ",", "reading", "ai-input,reading", "AI-INPUT"])
def test_what_is_no_use_is_refused_with_those_that_are(uses: str) -> None:
    with pytest.raises(ConfigError, match="write one or more of: search, ai-input, ai-train"):
        narrow_groups(None, uses, subject="--allow")


def test_a_group_cannot_be_named_as_what_a_refusal_asks() -> None:
    with pytest.raises(ConfigError, match="is not a group"):
        parse_groups("refused=ai-input", subject="--groups")


@pytest.mark.parametrize("text", ["Staff", "*,hr", "../hr", ".hidden", "a b", "x" * 41])
def test_what_is_no_group_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="is not a group"):
        parse_groups(text, subject="--groups")
