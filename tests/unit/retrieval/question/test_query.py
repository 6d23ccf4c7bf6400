"""What a user may ask, and what is refused by name."""

import json
from typing import Any

import pytest

from retrieval.question.query import (
    build_query,
    filters_from_record,
    parse_filters,
    parse_query_lines,
    parse_tool,
)
from schemas.errors import ConfigError, FilterError
from schemas.evidence import FILTER_FIELDS, Filter


def test_several_values_of_one_key_mean_any_and_several_keys_mean_all() -> None:
    assert parse_filters(["lang=en", "doc_type=b", "doc_type=a"]) == (
        Filter(field="doc_type", values=("a", "b")),
        Filter(field="lang", values=("en",)),
    )


def test_a_value_may_hold_an_equals_sign() -> None:
    assert parse_filters(["domain=a=b"]) == (Filter(field="domain", values=("a=b",)),)


@pytest.mark.parametrize(
    ("key", "field"), [("lifecycle", "status"), ("tool_name", "tool_names"), ("pdf_page", "page_no")]
)
def test_other_names_of_a_field_are_understood(key: str, field: str) -> None:
    assert parse_filters([f"{key}=3"]) == (Filter(field=field, values=("3",)),)


def test_an_unknown_filter_names_the_known_ones() -> None:
    with pytest.raises(FilterError) as caught:
        parse_filters(["colour=red"])
    assert "colour" in str(caught.value)
    assert all(name in str(caught.value) for name in FILTER_FIELDS)


@pytest.mark.parametrize(
    "item", ["doc_type", "doc_type=", "=x", "page_no=two", "page_no=0", f"page_no={10**20}", "kind=Word file"]
)
def test_impossible_filters_are_refused(item: str) -> None:
    with pytest.raises(FilterError):
        parse_filters([item])


def test_filters_of_a_record_may_be_lists_and_numbers() -> None:
    assert filters_from_record({"page_no": 3, "lang": ["de", "en"]}) == (
        Filter(field="lang", values=("de", "en")),
        Filter(field="page_no", values=("3",)),
    )
    with pytest.raises(FilterError):
        filters_from_record({"lang": {"is": "en"}})


@pytest.mark.parametrize("record", [{"source": []}, {"colour": []}])
def test_an_empty_list_is_never_taken_for_no_filter(record: dict[str, list[str]]) -> None:
    with pytest.raises(FilterError):
        filters_from_record(record)


@pytest.mark.parametrize("value", [[], 0, "", False])
def test_filters_of_a_line_are_an_object_or_none(value: object) -> None:
    with pytest.raises(ConfigError, match="object"):
        parse_query_lines([json.dumps({"query": "x", "filters": value})], build_query("all"))
    (query,) = parse_query_lines(['{"query": "x", "filters": null}'], build_query("all"))
    assert query.filters == ()


def test_a_value_that_is_no_text_is_refused() -> None:
    with pytest.raises(FilterError, match="UTF-8"):
        parse_filters(["doc_type=\udcff"])


def test_a_line_nested_without_end_is_refused_by_its_number() -> None:
    with pytest.raises(ConfigError, match="line 1"):
        parse_query_lines(["[" * 100_000], build_query("all"))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"top_k": 0}, "between"),
        ({"top_k": 51}, "between"),
        ({"token_budget": 15}, "between"),
        ({"token_budget": 100_001}, "between"),
        ({"by": "pages"}, "must be passage or page, not 'pages'"),
    ],
)
def test_bounds_are_kept(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        build_query("x", **options)


@pytest.mark.parametrize("text", ["", "  \n ", "x" * 10_001])
def test_an_empty_or_endless_question_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        build_query(text)


def test_a_broken_character_of_the_command_line_is_no_crash() -> None:
    assert build_query("caf\udce9 hours").text == "caf? hours"


def test_lines_take_their_options_from_the_command_and_their_filters_override() -> None:
    options = build_query("-", top_k=3, filters=parse_filters(["lang=en", "doc_type=guide"]))
    first, second = parse_query_lines(
        ['{"query": "a"}', "", '{"query": "b", "filters": {"lang": "de"}}'], options
    )
    assert (first.text, first.top_k, first.filters) == ("a", 3, options.filters)
    assert second.filters == (
        Filter(field="doc_type", values=("guide",)),
        Filter(field="lang", values=("de",)),
    )


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"query": 1}',
        '{"query": ""}',
        '{"query": "a", "top_k": 3}',
        '{"query": "a", "filters": 1}',
    ],
)
def test_a_bad_line_names_its_number(line: str) -> None:
    with pytest.raises(ConfigError, match="line 2"):
        parse_query_lines(['{"query": "a"}', line], build_query("-"))


def test_a_bad_filter_of_a_line_is_a_filter_error_with_its_number() -> None:
    with pytest.raises(FilterError, match="line 1"):
        parse_query_lines(['{"query": "a", "filters": {"colour": "red"}}'], build_query("-"))


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"a":' * 50_000 + "1" + "}" * 50_000], ids=["cut", "list", "deep"]
)
def test_inputs_of_a_tool_that_are_no_json_object_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="JSON"):
        parse_tool("sum", inputs=text, result=None)
