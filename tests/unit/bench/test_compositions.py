"""The loop's table: what counts, and what it is held against."""

from bench.compositions import FAILED, Composition, Remembering
from bench.retrieval.question_sets import Question, QuestionSet
from retrieval.graph.expansion import ALL_RULES, GraphRule
from retrieval.retriever import Retriever
from schemas.errors import StoreUnavailable
from schemas.evidence import ContextBundle, Query
from tests.fakes.novels import QUESTION, Likes, ask, novels_index, retriever_of

QUESTIONS = QuestionSet(
    name="novels",
    documents={},
    questions=(
        Question(id="1", text=QUESTION, gold=frozenset({"silver-harbour.md", "port-almond.md"})),
        Question(id="2", text="Who wrote Tin Lantern?", gold=frozenset({"tin-lantern.md"})),
    ),
)


class Breaking(Retriever):
    """Fails on one question."""

    def retrieve(self, query: Query) -> ContextBundle:
        if query.text == QUESTION:
            raise StoreUnavailable("is gone", subject="chunks")
        return super().retrieve(query)


def composition(kind: type[Retriever] = Retriever) -> Composition:
    index = novels_index()
    retriever = retriever_of(index, kind)
    return Composition(
        retriever=retriever,
        plain=retriever_of(index, rules=ALL_RULES - {GraphRule.SECOND_QUERY}),
        remembering=Remembering(retriever),
        graph=index.graph,
        reranker=Likes(-1.0),
    )


def test_documents_are_ranked_by_the_best_score_of_all_steps() -> None:
    figures, ended = composition().loop(QUESTIONS, steps=4)
    assert figures["all@10"] == (1.0, 1.0)
    assert ended == {"single hop": 1, "steps spent": 1}


def test_a_question_that_the_loop_could_not_handle_counts_as_a_failure() -> None:
    figures, ended = composition(Breaking).loop(QUESTIONS, steps=4)
    assert figures["R@10"] == figures["all@10"] == figures["MRR"] == (0.0, 1.0)
    assert ended[FAILED] == 1


def test_the_recipe_that_the_loop_is_held_against_asks_nothing_a_second_time() -> None:
    held = composition()
    assert held.plain.retrieve(ask()).diagnostics["sub_queries"] == []
    assert held.retriever.retrieve(ask()).diagnostics["sub_queries"] != []
