"""Conditions that filters become."""

from pathlib import Path

import pytest

import indexes
from indexes.stores.lance.scan import one_of, where
from schemas.evidence import Filter


def test_no_filter_is_no_condition() -> None:
    assert where([]) is None


@pytest.mark.parametrize(
    ("field", "values", "condition"),
    [
        ("doc_type", ("b", "a"), "(doc_type IN ('a', 'b'))"),
        ("lang", ("o'neill",), "(lang IN ('o''neill'))"),
        ("page_no", ("2", "10"), "(page_no IN (2, 10))"),
        ("tool_names", ("it's", "b"), "(array_has(tool_names, 'it''s') OR array_has(tool_names, 'b'))"),
        ("tool_names", (), "(false)"),
    ],
)
def test_a_filter_becomes_a_quoted_condition(field: str, values: tuple[str, ...], condition: str) -> None:
    assert where([Filter(field=field, values=values)]) == condition


def test_a_backslash_before_a_quote_is_a_sign_like_any_other() -> None:
    assert one_of("title", ["it\\'s"]) == r"title IN ('it\''s')"


def test_conditions_are_written_by_no_other_hand() -> None:
    modules = [*Path(*indexes.__path__).rglob("*.py")]
    assert len(modules) > 50
    assert [one for one in modules if "from lancedb.expr" in one.read_text("utf-8")] == []


def test_filters_are_joined_by_and() -> None:
    both = [Filter(field="kind", values=("pdf",)), Filter(field="tool_names", values=("a", "b"))]
    assert where(both) == ("(kind IN ('pdf')) AND (array_has(tool_names, 'a') OR array_has(tool_names, 'b'))")


def test_a_condition_does_not_depend_on_the_order_of_ids() -> None:
    assert one_of("id", {"b", "a", "c"}) == one_of("id", ["c", "b", "a"]) == "id IN ('a', 'b', 'c')"
