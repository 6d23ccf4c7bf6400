"""The GraphAnchor loop by rules, on questions that take several documents, beside the recipe it repeats.

    python -m bench.compositions [SET ...]

Prints a table per set and the paired bootstrap intervals of the loop over the recipe: without its second
queries, whole, and reranked. Indexes are those of `bench.retrieval`; the first call builds them.
"""

import argparse
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from bench.retrieval.__main__ import print_table
from bench.retrieval.asking import TOP_K, Figures, Way, ask_all, measure_rankings, rank_documents
from bench.retrieval.indexing import build_index
from bench.retrieval.question_sets import Question, QuestionSet, load_sets
from indexes.ports import GraphReader, Reranker
from indexes.wiring import open_readers
from retrieval.evidence import build_retriever
from retrieval.graph.expansion import ALL_RULES, GraphRule
from retrieval.iterative.answering import build_final_bundle
from retrieval.iterative.loop import iterate
from retrieval.iterative.state import STEPS_MAX
from retrieval.learning.tuning import paired_bootstrap
from retrieval.question.query import build_query
from retrieval.retriever import Retriever
from schemas.errors import SitegraphError
from schemas.evidence import ContextBundle, Query

SETS = ("2wiki", "musique", "hotpot")
PLAIN = Way(name="recipe without second queries")
WHOLE = Way(name="recipe")
RERANKED = Way(name="recipe, rerank", rerank=True)
LOOP, FAST = "loop", "loop of two steps"
FAILED = "failed"
COMPARED = ("R@5", "R@10", "all@10")


class Remembering:
    """Retrieves each query once: the loop of two steps asks what the longer one did."""

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever
        self._found: dict[Query, ContextBundle] = {}

    def retrieve(self, query: Query) -> ContextBundle:
        """Return the evidence for *query*."""
        if query not in self._found:
            self._found[query] = self._retriever.retrieve(query)
        return self._found[query]


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """What the loop is made of: the retriever, the graph of its index, and the cross-encoder.

    `plain` is the retriever without its second queries.
    """

    retriever: Retriever
    plain: Retriever
    remembering: Remembering
    graph: GraphReader | None
    reranker: Reranker | None

    def loop(self, questions: QuestionSet, *, steps: int) -> tuple[Figures, Mapping[str, int]]:
        """Run the loop for every question; give its figures, and how often it ended in which way."""
        answers = [self._run(question, steps) for question in questions.questions]
        ended = Counter(outcome for _, outcome in answers)
        return measure_rankings([found for found, _ in answers], questions), dict(sorted(ended.items()))

    def _run(self, question: Question, steps: int) -> tuple[tuple[str, ...], str]:
        """Rank documents by the best score of all steps; a question that fails has found none of its own."""
        query = build_query(question.text, top_k=TOP_K)
        try:
            run = iterate(self.remembering, self.graph, query, reranker=self.reranker, steps=steps)
        except SitegraphError:
            return (), FAILED
        return rank_documents(build_final_bundle(run, query)), run.state.outcome.value


def open_composition(questions: QuestionSet) -> Composition:
    """Open the index of a set, which is built first where there is none."""
    readers = open_readers(build_index(questions), environment={})
    retriever = build_retriever(readers)
    return Composition(
        retriever=retriever,
        plain=build_retriever(readers, rules=ALL_RULES - {GraphRule.SECOND_QUERY}),
        remembering=Remembering(retriever),
        graph=readers.graph,
        reranker=readers.reranker,
    )


def ask_recipe(composition: Composition, questions: QuestionSet) -> dict[str, Figures]:
    """Ask all questions once each, by the recipe with its parts and without."""
    tables = {way.name: ask_all(composition.retriever, questions, way) for way in (WHOLE, RERANKED)}
    tables[PLAIN.name] = ask_all(composition.plain, questions, PLAIN)
    return {name: tables[name] for name in (PLAIN.name, WHOLE.name, RERANKED.name)}


def measure_set(questions: QuestionSet) -> None:
    """Print the table of one set, what the loop gains, and how it ended."""
    composition = open_composition(questions)
    recipe = ask_recipe(composition, questions)
    loop, ended = composition.loop(questions, steps=STEPS_MAX)
    fast, _ = composition.loop(questions, steps=2)
    print(f"\n{questions.name}: {len(questions.questions)} questions, {len(questions.documents)} documents")
    print_table({**recipe, LOOP: loop, FAST: fast})
    for name, figures in recipe.items():
        gains = (f"{one} {paired_bootstrap(loop[one], figures[one])}" for one in COMPARED)
        print(f"loop over {name}: " + "; ".join(gains))
    print("ended: " + ", ".join(f"{outcome} {count}" for outcome, count in ended.items()), flush=True)


def main() -> None:
    """Ask all, print all."""
    parser = argparse.ArgumentParser(description="Measure the loop on questions of several hops.")
    parser.add_argument("sets", nargs="*", help=f"which of {', '.join(SETS)} (default: all)")
    options = parser.parse_args()
    for name, questions in load_sets().items():
        if name in (options.sets or SETS):
            measure_set(questions)


if __name__ == "__main__":
    main()
