"""Fitting the blend: what one half gains, the other half must confirm; nothing is retrieved twice."""

import pytest

from retrieval.learning.questions import Captured, KnownQuestion, capture
from retrieval.learning.tuning import Tuning, render_tuning, tune_blend
from retrieval.ranking.score import WEIGHTS
from retrieval.retriever import RetrievalResult, Retriever
from schemas.evidence import Query, Scores
from schemas.records import to_record
from tests.fakes.captured_questions import candidate, captured_question
from tests.fakes.governance import governance_index
from tests.fakes.small_index import AS_OF, GENERATION


@pytest.fixture(scope="module")
def tuned() -> Tuning:
    return tune_blend([captured_question(number) for number in range(30)])


def test_a_part_that_finds_gold_gets_weight_from_the_others(tuned: Tuning) -> None:
    assert tuned.accepted
    assert tuned.after.authority > WEIGHTS.authority
    assert (tuned.held.before["R@5"], tuned.held.after["R@5"]) == (0.0, 1.0)
    assert tuned.held_out.low == pytest.approx(1.0)
    assert tuned.tuned.questions + tuned.held.questions == 30


def test_the_same_questions_give_the_same_weights(tuned: Tuning) -> None:
    assert tune_blend([captured_question(number) for number in range(30)]) == tuned


def test_what_only_the_tuning_half_gains_is_not_accepted() -> None:
    found = tune_blend(
        [
            captured_question(
                number, gold="other00" if captured_question(number).question.is_held_out else "gold"
            )
            for number in range(30)
        ]
    )
    assert found.cross_validated.mean > 0
    assert not found.accepted or found.held_out.low > -0.005


def test_gold_lost_by_the_other_half_refuses_the_weights() -> None:
    def asked(number: int) -> Captured:
        one = captured_question(number)
        return captured_question(number, gold="other04") if one.question.is_held_out else one

    found = tune_blend([asked(number) for number in range(30)])
    assert found.held.after["R@5"] < found.held.before["R@5"]
    assert not found.accepted
    assert "may be as low as" in found.reason


def test_where_no_weights_help_those_in_use_stay() -> None:
    found = tune_blend([captured_question(number, gold="missing") for number in range(30)])
    assert (found.after, found.accepted) == (found.before, False)
    assert found.held_out.mean == 0.0


def test_a_report_tells_weights_tables_and_the_gain_with_its_interval(tuned: Tuning) -> None:
    text = render_tuning(tuned)
    assert f"gain, held out: {tuned.held_out}" in text
    assert "accepted: the gain holds" in text
    record = to_record(tuned)
    assert record["held"]["after"]["R@5"] == 1.0
    assert record["before"] == {
        "text": 0.5,
        "graph": 0.25,
        "anchor": 0.15,
        "authority": 0.05,
        "freshness": 0.05,
    }


def test_a_question_is_retrieved_once_and_ranked_as_the_retriever_does() -> None:
    index = governance_index()
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    asked: list[Query] = []

    def walk(query: Query) -> RetrievalResult:
        asked.append(query)
        return retriever.walk(query)

    one = capture(KnownQuestion(id="q", text="backup log", gold=("elsewhere.md",)), walk)
    bundle = retriever.retrieve(asked[0])
    assert one.rank_documents(WEIGHTS) == tuple(dict.fromkeys(found.doc for found in bundle.evidence))
    other = Scores(text=0.0, graph=0.0, anchor=0.0, authority=0.0, freshness=1.0)
    tuned = Retriever(
        index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF, weights=other
    )
    assert one.rank_documents(other) == tuple(
        dict.fromkeys(found.doc for found in tuned.retrieve(asked[0]).evidence)
    )
    assert len(asked) == 1


@pytest.mark.parametrize("name", ["page:gold", "site/gold.md", "gold.md"])
def test_gold_may_be_a_node_id_a_path_or_a_file_name(name: str) -> None:
    index = governance_index()
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    walked = retriever.walk(Query(text="backup log"))
    found = RetrievalResult(
        query=walked.query, bundle=walked.bundle, candidates=(candidate("gold", Scores(text=1.0)),), copies={}
    )
    one = capture(KnownQuestion(id="q", text="?", gold=(name,)), lambda _: found)
    assert one.rank_documents(WEIGHTS) == (name,)
