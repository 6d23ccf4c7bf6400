"""The fields of the form as a query, and as an address again."""

import pytest

from schemas.errors import FilterError
from schemas.evidence import Filter
from sitegraph.service.pages.frame import wants_html
from sitegraph.service.pages.results import Asked, query_of, read_asked


def test_empty_fields_filter_nothing_and_unknown_ones_are_left_out() -> None:
    asked = read_asked({"q": " a lease ", "source": "", "colour": "red", "since": " "})
    assert asked == Asked(q="a lease")
    assert query_of(asked, top_k=3, token_budget=100).filters == ()
    assert asked.address("/search") == "/search?q=a+lease"


def test_days_bound_the_date_on_both_sides() -> None:
    asked = Asked(q="a", kind="pdf", since="2024-01-01", until="2024-06-30")
    assert query_of(asked, top_k=3, token_budget=100).filters == (
        Filter(field="kind", values=("pdf",)),
        Filter(field="last_modified", values=("2024-01-01/2024-07-01",)),
    )


def test_an_address_asks_the_same_again() -> None:
    asked = Asked(q="a & b?", source="x=y", n="1")
    assert asked.address("/answer") == "/answer?q=a+%26+b%3F&source=x%3Dy&n=1"
    assert asked.unfiltered().address("/") == "/?q=a+%26+b%3F"
    assert "n=50" in asked.more().address("/search")


@pytest.mark.parametrize("wrong", [Asked(q="a", since="soon"), Asked(q="a", kind="../x")])
def test_an_impossible_filter_is_said(wrong: Asked) -> None:
    with pytest.raises(FilterError):
        query_of(wrong, top_k=3, token_budget=100)


@pytest.mark.parametrize(
    ("accept", "wants"),
    [
        ("text/html,application/xhtml+xml,*/*;q=0.8", True),
        ("application/json, TEXT/HTML ; q=0.3", True),
        ("text/html;q=0.0", False),
        ("text/html; q=0", False),
        ("*/*", False),
        ("text/*", False),
        ("application/json", False),
        ("", False),
        (None, False),
    ],
)
def test_html_is_for_whoever_names_it(accept: str | None, wants: bool) -> None:
    assert wants_html(accept) is wants
