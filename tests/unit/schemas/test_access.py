"""Groups of readers, and names of audiences."""

import pytest

from schemas.access import audience_name, groups_of_audience, parse_groups
from schemas.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "name"), [("public", "public"), ("staff, hr", "hr+staff"), ("hr+staff,public", "hr+staff")]
)
def test_an_audience_is_named_by_its_groups(text: str, name: str) -> None:
    groups = parse_groups(text, subject="--groups")
    assert audience_name(groups) == name
    assert groups_of_audience(name) == groups


@pytest.mark.parametrize("text", ["", " ", ",", "+"])
def test_groups_that_are_none_do_not_open_the_whole_index(text: str) -> None:
    with pytest.raises(ConfigError, match="names no group"):
        parse_groups(text, subject="--groups")


@pytest.mark.parametrize("text", ["Staff", "*,hr", "../hr", ".hidden", "a b", "x" * 41])
def test_what_is_no_group_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="is not a group"):
        parse_groups(text, subject="--groups")
