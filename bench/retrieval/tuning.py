"""Weights of the blend fitted on a question set, as `sitegraph tune` does, without storing them.

python -m bench.retrieval.tuning [SET ...]
"""

import argparse
import time

from bench.retrieval.asking import open_retriever
from bench.retrieval.indexing import build_index
from bench.retrieval.question_sets import QuestionSet, load_sets
from retrieval.learning.questions import KnownQuestion, capture
from retrieval.learning.tuning import render_tuning, tune_blend

SETS = ("2wiki", "hotpot", "musique")


def main() -> None:
    """Tune on each set and print what it is worth."""
    parser = argparse.ArgumentParser(description="Fit the weights of the blend on a question set.")
    parser.add_argument("sets", nargs="*", default=SETS, choices=SETS)
    for name in parser.parse_args().sets:
        tune_set(load_sets()[name])


def tune_set(questions: QuestionSet) -> None:
    """Capture each question once, fit, print."""
    retriever = open_retriever(build_index(questions))
    started = time.perf_counter()
    known = [
        KnownQuestion(id=one.id, text=one.text, gold=tuple(sorted(one.gold))) for one in questions.questions
    ]
    captured = [capture(one, retriever.walk) for one in known]
    asked = time.perf_counter()
    tuning = tune_blend(captured)
    print(f"\n{questions.name}: {len(known)} questions")
    print(render_tuning(tuning))
    print(f"asked in {asked - started:.0f} s, fitted in {time.perf_counter() - asked:.0f} s", flush=True)


if __name__ == "__main__":
    main()
