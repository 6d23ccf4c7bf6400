"""`access` in front matter: groups, or nobody where it is none."""

import pytest

from ingest.parse.markdown.front_matter import split_front_matter

NOBODY = ("*",)


@pytest.mark.parametrize(
    ("block", "groups"),
    [
        ("title: x", ()),
        ("access: hr", ("hr",)),
        ("access: [staff, hr, hr]", ("hr", "staff")),
        ("access: ['*']", ("*",)),
    ],
)
def test_front_matter_names_groups(block: str, groups: tuple[str, ...]) -> None:
    stated, _, warnings = split_front_matter(f"---\n{block}\n---\ntext")
    assert (stated.access, warnings) == (groups, ())


@pytest.mark.parametrize("value", ["", "[]", "{hr: 1}", "[hr, {a: 1}]", "[hr, 'Two Words']", "[[hr]]"])
def test_what_is_no_list_of_groups_is_for_nobody(value: str) -> None:
    stated, _, warnings = split_front_matter(f"---\naccess: {value}\n---\ntext")
    assert stated.access == NOBODY
    assert "no list of groups" in warnings[0]


@pytest.mark.parametrize(
    ("block", "groups"),
    [
        ("access: [hr\ntitle: x", NOBODY),
        ("a: *x\n  'access' : hr", NOBODY),
        ("{access: hr, b: *x}", NOBODY),
        ("title: [", ()),
    ],
)
def test_a_block_that_cannot_be_read_and_names_access_is_for_nobody(
    block: str, groups: tuple[str, ...]
) -> None:
    assert split_front_matter(f"---\n{block}\n---\ntext")[0].access == groups


def test_no_block_that_cannot_be_read_takes_long() -> None:
    stated, _, warnings = split_front_matter("---\na: [" + "\n" * 300_000 + "---\ntext")
    assert (stated.access, len(warnings)) == ((), 1)
