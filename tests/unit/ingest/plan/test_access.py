"""Who may see a document."""

import pytest

from ingest.plan.access import groups_of, may_see
from ingest.urls import file_url
from schemas.access import PathAccess, SourceAccess
from tests.fakes.known import file_source, web_source

STAFF = SourceAccess(
    groups=("staff",),
    paths=(
        PathAccess(path="hr/*", groups=("hr",)),
        PathAccess(path="hr/holidays.md", groups=("public",)),
    ),
)


@pytest.mark.parametrize(
    ("path", "groups"),
    [("guide.md", {"staff"}), ("hr/pay.md", {"hr"}), ("hr/holidays.md", {"public"})],
)
def test_the_last_glob_that_matches_stands_in_the_place_of_the_source(path: str, groups: set[str]) -> None:
    assert groups_of(file_source(access=STAFF), file_url("notes", path)) == groups


def test_globs_of_a_web_source_match_the_address() -> None:
    access = SourceAccess(paths=(PathAccess(path="https://docs.example.org/hr/*", groups=("hr",)),))
    assert groups_of(web_source(access=access), "https://docs.example.org/hr/pay") == {"hr"}
    assert groups_of(web_source(access=access), "https://docs.example.org/pay") == frozenset()


@pytest.mark.parametrize(
    ("reader", "source", "page", "sees"),
    [
        ((), (), (), True),
        ((), ("public",), (), True),
        ((), ("staff",), (), False),
        (("hr",), ("staff", "hr"), (), True),
        (("hr",), (), ("staff",), False),
        (("hr", "staff"), ("staff",), ("hr",), True),
        (("hr",), ("staff",), ("hr",), False),  # front matter cannot open what the source file closes
        ((), ("staff",), ("public",), False),
        (("staff",), ("*",), (), False),
        (("*",), ("*",), ("hr",), True),
    ],
)
def test_a_reader_needs_one_group_of_each_list(
    reader: tuple[str, ...], source: tuple[str, ...], page: tuple[str, ...], sees: bool
) -> None:
    assert may_see(frozenset(reader), source, page) is sees
