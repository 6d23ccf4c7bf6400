"""Tools in scope: who names them, what defines them, and that it stands in the evidence."""

from typing import Any

import pytest

from retrieval.graph.tools import names_tool
from retrieval.question.query import build_query, parse_filters
from retrieval.retriever import Retriever
from schemas.evidence import ContextBundle, ToolUse
from tests.fakes.shop_index import shop_index
from tests.fakes.small_index import AS_OF, GENERATION, SmallIndex


@pytest.fixture(scope="module")
def index() -> SmallIndex:
    return shop_index()


def ask(index: SmallIndex, text: str, *, filters: tuple[str, ...] = (), **options: Any) -> ContextBundle:
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    return retriever.retrieve(build_query(text, filters=parse_filters([*filters]), **options))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("how does shop restock work", "shop restock"),
        ("How does Shop Restock work?", "shop restock"),
        ("what does Flask.run do", "flask.Flask.run"),
        ("what is getPet()", "getPet"),
        ("call POST /shelves/{id}/restock twice", "POST /shelves/{id}/restock"),
        ("what does the run command print", "run"),
        ("when is run() called", "run"),
        ("explain the method `run`", "flask.Flask.run"),
        ("what does the set builtin change", "set"),
        ("what does `set` change", "set"),
    ],
)
def test_a_question_names_a_tool(text: str, name: str) -> None:
    assert names_tool(text, name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("how do I run the shop", "run"),
        ("where is the workshop restocked", "shop restock"),
        ("shop restocking", "shop restock"),
        ("get a list", "get"),
        ("the flask.Flask.runner class", "flask.Flask.run"),
        ("prerun() is gone", "run"),
    ],
)
def test_everyday_words_and_parts_of_words_name_no_tool(text: str, name: str) -> None:
    assert not names_tool(text, name)


@pytest.mark.parametrize("top_k", [2, 5, 10])
def test_the_passage_that_defines_a_named_tool_is_in_the_evidence(index: SmallIndex, top_k: int) -> None:
    bundle = ask(index, "use shop restock in the morning", top_k=top_k)
    defining = bundle.evidence[1]
    assert (defining.section, defining.file_path) == ("Refilling", "reference.md")
    assert [step.kind for step in defining.path] == ["explained_by"]
    plan = bundle.tool_plan
    assert plan is not None
    assert (plan.name, plan.defined_by, plan.description) == ("shop restock", "S2", "Fills a shelf.")
    assert (plan.valid, plan.inputs, plan.problems) == (None, None, ())


def test_a_larger_top_k_only_appends_with_a_tool_in_scope_too(index: SmallIndex) -> None:
    long = [one.chunk_id for one in ask(index, "use shop restock in the morning", top_k=12).evidence]
    for top_k in (1, 2, 6):
        short = ask(index, "use shop restock in the morning", top_k=top_k).evidence
        assert [one.chunk_id for one in short] == long[:top_k]


@pytest.mark.parametrize("name", ["shop restock", "refill-shelf"])
def test_a_tool_that_the_asker_names_is_in_scope_whatever_the_question_says(
    index: SmallIndex, name: str
) -> None:
    bundle = ask(index, "in the morning", tool=ToolUse(name=name))
    assert bundle.tool_plan is not None
    assert (bundle.tool_plan.name, bundle.tool_plan.defined_by) == ("shop restock", "S2")


def test_a_filter_for_a_tool_puts_it_in_scope(index: SmallIndex) -> None:
    bundle = ask(index, "in the morning", filters=("tool_names=shop restock",))
    assert bundle.tool_plan is not None
    assert bundle.tool_plan.name == "shop restock"


def test_a_definition_that_the_filters_leave_out_is_not_forced(index: SmallIndex) -> None:
    bundle = ask(index, "use shop restock", filters=("doc_type=nothing",))
    assert bundle.evidence == ()
    other = ask(index, "shop restock", filters=("doc_type=reference",))
    assert {one.file_path for one in other.evidence} == {"reference.md"}


def test_no_tool_is_in_scope_where_none_is_named(index: SmallIndex) -> None:
    assert ask(index, "how do I run the shop").tool_plan is None


def test_inputs_are_checked_and_the_result_goes_through(index: SmallIndex) -> None:
    use = ToolUse(name="shop restock", inputs={"amount": "three"}, result={"filled": 3})
    bundle = ask(index, "fill the shelf", tool=use)
    assert bundle.tool_plan is not None
    assert bundle.tool_plan.valid is False
    assert bundle.tool_plan.problems == ("$.amount: 'three' is not of type 'integer'",)
    assert bundle.tool_result == {"filled": 3}


def test_a_tool_that_is_not_known_and_a_graph_that_is_not_read_are_said(index: SmallIndex) -> None:
    unknown = ask(index, "fill the shelf", tool=ToolUse(name="shop close", inputs={}))
    assert unknown.tool_plan is not None
    assert (unknown.tool_plan.tool_id, unknown.tool_plan.valid) == (None, None)
    assert unknown.tool_plan.problems == ("the index knows no such tool",)
    without = ask(index, "fill the shelf", tool=ToolUse(name="shop restock"), use_graph=False)
    assert without.tool_plan is not None
    assert "was not read" in without.tool_plan.problems[0]


@pytest.mark.parametrize("name", ["till", "Till"])
def test_a_tool_that_no_passage_explains_is_known_by_its_name(index: SmallIndex, name: str) -> None:
    plan = ask(index, "in the morning", tool=ToolUse(name=name)).tool_plan
    assert plan is not None
    assert (plan.name, plan.description, plan.problems) == ("till", "Nobody writes of it.", ())
    assert plan.tool_id is not None
    assert plan.defined_by is None
