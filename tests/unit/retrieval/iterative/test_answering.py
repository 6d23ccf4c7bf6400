"""What an answerer is given at the end."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from retrieval.bundle.prompt import parse_answer
from retrieval.iterative.answering import (
    build_final_bundle,
    evidence_chain,
    list_provenance,
    messages_for_answer,
)
from retrieval.iterative.loop import Iteration, iterate
from schemas.ids import canonical_json
from schemas.records import to_record
from tests.fakes.novels import QUESTION, Likes, ask, novels_index, retriever_of

SCHEMA = Path(__file__).parents[4] / "docs" / "reference" / "bundle.schema.json"


@pytest.fixture(scope="module")
def run() -> Iteration:
    index = novels_index()
    return iterate(retriever_of(index), index.graph, ask(), reranker=Likes(-1.0))


def test_every_triple_names_the_chunk_the_words_and_the_step_it_comes_from(run: Iteration) -> None:
    texts = {one.evidence.chunk_id: one.evidence.text for one in run.state.passages}
    found = list_provenance(run.state)
    assert found
    assert all(texts[one.chunk][slice(*one.span)] == one.text != "" for one in found)
    assert {one.step for one in found} >= {1, 3}


def test_the_evidence_chain_leads_from_the_question_to_an_answer(run: Iteration) -> None:
    chain = evidence_chain(run.state)
    assert [(one.subject, one.object) for one in chain] == [
        ("Silver Harbour", "Ada Quill"),
        ("Ada Quill", "Port Almond"),
    ]
    assert set(chain) <= set(list_provenance(run.state))


def test_the_bundle_has_all_that_was_read_best_score_first(run: Iteration) -> None:
    bundle = build_final_bundle(run, ask(top_k=1))
    scores = {one.evidence.chunk_id: one.score for one in run.state.passages}
    ranked = [one.score for one in bundle.evidence]
    assert ranked == [scores[one.chunk_id] for one in bundle.evidence]
    assert {one.chunk_id for one in bundle.evidence} == {one.evidence.chunk_id for one in run.state.read}
    assert ranked == sorted(ranked, reverse=True)
    assert [one.S for one in bundle.evidence] == [f"S{n}" for n in range(1, len(ranked) + 1)]
    assert [one.chunk_id for one in bundle.citations] == [one.chunk_id for one in bundle.evidence]


def test_the_bundle_is_json_and_tells_how_it_came_to_be(run: Iteration) -> None:
    bundle = build_final_bundle(run, ask())
    assert bundle.diagnostics["asked"][0] == QUESTION
    assert len(bundle.diagnostics["evidence_chain"]) == 2
    assert canonical_json(to_record(bundle)) == canonical_json(to_record(build_final_bundle(run, ask())))


def test_the_bundle_keeps_the_published_schema(run: Iteration) -> None:
    record = json.loads(canonical_json(to_record(build_final_bundle(run, ask()))))
    Draft202012Validator(json.loads(SCHEMA.read_text("utf-8"))).validate(record)


def test_the_answer_is_asked_from_all_documents_and_the_final_graph(run: Iteration) -> None:
    bundle = build_final_bundle(run, ask())
    (message,) = messages_for_answer(run, bundle)
    assert QUESTION in message["content"]
    assert all(one.text in message["content"] for one in bundle.evidence)
    assert bundle.diagnostics["graph"] in message["content"]


def test_an_answer_is_held_against_the_bundle_like_any_other(run: Iteration) -> None:
    bundle = build_final_bundle(run, ask())
    assert "there is no S99 in the evidence" in parse_answer("She was born there [S99].", bundle).problems
