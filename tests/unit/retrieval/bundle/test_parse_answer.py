"""Answers held against the contract of their prompt."""

import json

import pytest

from retrieval.bundle.prompt import ToolCall, parse_answer
from retrieval.bundle.render import cite_line
from retrieval.question.query import build_query
from retrieval.retriever import Retriever
from schemas.evidence import ContextBundle
from tests.fakes.governance import governance_index
from tests.fakes.small_index import AS_OF, GENERATION


@pytest.fixture(scope="module")
def bundle() -> ContextBundle:
    index = governance_index()
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    return retriever.retrieve(build_query("backup log"))


def citations(bundle: ContextBundle, *labels: str) -> str:
    rows = [
        {"S": one.S, "chunk_id": one.chunk_id, "citation": cite_line(one, one.pdf)}
        for one in bundle.citations
        if one.S in labels
    ]
    return json.dumps({"citations": rows})


def test_a_label_as_the_graph_heads_its_evidence_counts_as_the_plain_one(bundle: ContextBundle) -> None:
    text = f"Replay the log [2: Knowledge Graph - Redis].\n{citations(bundle, 'S2')}"
    answer = parse_answer(text, bundle)
    assert (answer.problems, answer.sentences[0].labels) == ((), ("S2",))


def test_an_answer_that_keeps_the_contract_has_no_problems(bundle: ContextBundle) -> None:
    text = f"Replay the log. [S1] Keep it for 3.5 years [S2][S1].\n{citations(bundle, 'S1', 'S2')}"
    answer = parse_answer(text, bundle)
    assert answer.problems == ()
    assert [(one.text, one.labels) for one in answer.sentences] == [
        ("Replay the log.", ("S1",)),
        ("Keep it for 3.5 years.", ("S2", "S1")),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Replay the log.", "no evidence is named"),
        ("Replay the log [S99].", "there is no S99"),
        ("Replay the log [S1].", "without its citations"),
        ('Replay the log [S1].\n{"citations": []}', "S1 is used and not cited"),
        (
            'Replay [S1].\n{"citations": [{"S": "S1", "chunk_id": "chunk:x", "citation": "y"}]}',
            "something else",
        ),
        ('Replay [S1].\n{"citations": [{"S": "S1"', "without its citations"),
        ("", "says nothing"),
    ],
)
def test_each_breach_is_named(bundle: ContextBundle, text: str, problem: str) -> None:
    assert any(problem in one for one in parse_answer(text, bundle).problems)


def test_not_found_needs_no_evidence(bundle: ContextBundle) -> None:
    answer = parse_answer("Not found.", bundle)
    assert (answer.not_found, answer.problems) == (True, ())


def test_a_request_for_a_tool_is_read_with_its_inputs(bundle: ContextBundle) -> None:
    answer = parse_answer('[TOOL price {"tier": "pro"}]', bundle)
    assert answer.tool_requests == (ToolCall(name="price", inputs={"tier": "pro"}),)
    assert answer.problems == ()
    assert any("not JSON" in one for one in parse_answer("[TOOL price {tier}]", bundle).problems)
