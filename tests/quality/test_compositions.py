"""The loop by rules, on questions of several hops: it must be worth more than the recipe it repeats."""

from functools import cache
from statistics import mean

import pytest

from bench.compositions import LOOP, PLAIN, SETS, WHOLE, ask_recipe, open_composition
from bench.retrieval.asking import Figures
from bench.retrieval.question_sets import QA, load_sets
from indexes.reader_parts import locate_reranker
from retrieval.iterative.state import STEPS_MAX
from schemas.errors import ConfigError
from tests.quality.floors import hold

pytestmark = [pytest.mark.data, pytest.mark.long, pytest.mark.timeout(3600)]


@cache
def measured(name: str) -> dict[str, Figures]:
    """All questions of a set by the recipe and by the loop; the index is built by the first test."""
    if not QA.is_dir():
        pytest.skip(f"no questions: {QA} is not there")
    try:
        locate_reranker()
    except ConfigError as error:
        pytest.skip(str(error))
    questions = load_sets()[name]
    composition = open_composition(questions)
    loop, _ = composition.loop(questions, steps=STEPS_MAX)
    return {**ask_recipe(composition, questions), LOOP: loop}


def gain(name: str, other: str) -> float:
    tables = measured(name)
    return mean(tables[LOOP]["all@10"]) - mean(tables[other]["all@10"])


def test_the_loop_finds_what_the_recipe_without_second_queries_misses(figures: list[str]) -> None:
    name = "musique.loop over recipe without second queries.all@10"
    hold(figures, "compositions", name, round(gain("musique", PLAIN.name), 6))


@pytest.mark.parametrize("name", SETS)
def test_the_loop_is_never_worse_than_the_whole_recipe(figures: list[str], name: str) -> None:
    hold(figures, "compositions", f"{name}.loop over recipe.all@10", round(gain(name, WHOLE.name), 6))
