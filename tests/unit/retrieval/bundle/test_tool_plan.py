"""Inputs of tools against the JSON Schema that their file states."""

from typing import Any

import pytest

from retrieval.bundle.annotations import PROBLEMS_MAX, check_inputs
from retrieval.bundle.prompt import parse_answer, render_prompt
from retrieval.question.query import build_query, parse_tool
from retrieval.retriever import Retriever
from schemas.errors import ConfigError
from schemas.evidence import ContextBundle, ToolUse
from tests.fakes.shop_index import RESTOCK_SCHEMA, shop_index
from tests.fakes.small_index import AS_OF, GENERATION


@pytest.mark.parametrize(
    ("inputs", "problems"),
    [
        ({"amount": 3}, ()),
        ({"amount": 3, "shelf": "top"}, ()),
        ({}, ("$: 'amount' is a required property",)),
        ({"amount": 0}, ("$.amount: 0 is less than the minimum of 1",)),
        ({"amount": True}, ("$.amount: True is not of type 'integer'",)),
        (
            {"amount": 1.5, "x": 1},
            (
                "$: Additional properties are not allowed ('x' was unexpected)",
                "$.amount: 1.5 is not of type 'integer'",
            ),
        ),
    ],
)
def test_what_breaks_the_schema_is_said_by_place(inputs: dict[str, Any], problems: tuple[str, ...]) -> None:
    assert check_inputs(RESTOCK_SCHEMA, inputs) == problems


def test_at_most_ten_problems_are_told_each_of_bounded_length() -> None:
    schema = {"type": "object", "additionalProperties": {"type": "integer"}}
    found = check_inputs(schema, {f"k{n}": "x" * 5000 for n in range(50)})
    assert len(found) == PROBLEMS_MAX
    assert max(map(len, found)) <= 300


def test_a_schema_that_is_none_is_a_problem_and_no_failure() -> None:
    assert "own schema is none" in check_inputs({"type": "whatever"}, {})[0]


@pytest.mark.parametrize("ref", ["http://127.0.0.1:9/schema.json", "file:///etc/passwd", "#/$defs/gone"])
def test_a_reference_out_of_the_schema_is_never_followed(ref: str) -> None:
    (problem,) = check_inputs({"properties": {"a": {"$ref": ref}}}, {"a": 1})
    assert "refers to what is not in it" in problem


def bundle(schema: dict[str, Any] | None, use: ToolUse | None = None) -> ContextBundle:
    index = shop_index(schema)
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    return retriever.retrieve(build_query("how does shop restock work", tool=use))


def test_without_a_schema_inputs_are_neither_right_nor_wrong() -> None:
    plan = bundle(None, ToolUse(name="shop restock", inputs={"amount": "x"})).tool_plan
    assert plan is not None
    assert (plan.input_schema, plan.valid, plan.problems) == (None, None, ())


def test_the_prompt_tells_what_the_tool_takes() -> None:
    text = render_prompt(bundle(RESTOCK_SCHEMA, ToolUse(name="shop restock", inputs={})))
    assert "Tool: shop restock (defined by S2)" in text
    assert '"required": ["amount"]' in text
    assert "Wrong with them: $: 'amount' is a required property" in text


def test_an_answer_that_asks_for_the_tool_with_wrong_inputs_is_told_so() -> None:
    asked = parse_answer('[TOOL "shop restock" {"amount": 0}]', bundle(RESTOCK_SCHEMA))
    assert asked.tool_requests[0].name == "shop restock"
    assert any("less than the minimum" in problem for problem in asked.problems)
    assert parse_answer('[TOOL "shop restock" {"amount": 2}]', bundle(RESTOCK_SCHEMA)).problems == ()


@pytest.mark.parametrize(
    ("name", "inputs", "named"),
    [(None, "{}", "--tool NAME"), ("run", "{", "--tool-inputs"), ("run", "[1]", "--tool-inputs")],
)
def test_inputs_on_the_command_line_are_an_object_of_a_named_tool(
    name: str | None, inputs: str, named: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_tool(name, inputs=inputs, result=None)
    assert named in str(caught.value)


def test_half_a_surrogate_pair_becomes_a_question_mark() -> None:
    tool = build_query("q", tool=ToolUse(name="a\ud800", inputs={"\udfff": "b\ud800"})).tool
    assert tool == ToolUse(name="a?", inputs={"?": "b?"})


def nested(levels: int) -> dict[str, Any]:
    """Objects within objects."""
    return {"a": nested(levels - 1)} if levels else {}


def test_the_size_and_form_of_inputs_and_results_are_bounded() -> None:
    assert build_query("q", tool=ToolUse(name="x", inputs=nested(30))).tool
    for use in (
        ToolUse(name="x", inputs=nested(40)),
        ToolUse(name="x", inputs={"a": float("nan")}),
        ToolUse(name="x" * 201),
        ToolUse(name=" "),
        ToolUse(name="x", inputs={"a": "b" * 10_000}),
        ToolUse(name="x", result={"a": "b" * 40_000}),
    ):
        with pytest.raises(ConfigError):
            build_query("q", tool=use)
