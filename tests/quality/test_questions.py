"""Own questions about real manuals, both halves, against floors: entries found, citations that open there."""

from functools import cache
from statistics import mean

import pytest

from bench.questions.asking import Figures, ask_all, open_set, recipes
from bench.questions.baselines import plain_searches
from bench.questions.documents import SETS
from indexes.reader_parts import locate_reranker
from schemas.errors import ConfigError
from tests.fakes.real_sites import DATA
from tests.quality.floors import hold

pytestmark = [pytest.mark.data, pytest.mark.long, pytest.mark.timeout(3600)]

ASKED = ("flask", "debian-policy", "bash", "developers-reference")
"""The sets whose index takes a minute or two; `make bench-questions` asks all."""
RECIPE, RERANKED = "graph", "graph, rerank"
NOISE = 0.01
"""Of 148 questions, one and a half: what may be missing from a gain that is none."""


@cache
def asked() -> dict[str, list[Figures]]:
    """All questions of the sets, by the recipe, the recipe with a cross-encoder, and each plain search."""
    if not DATA.is_dir():
        pytest.skip(f"no manuals: {DATA} is not there")
    try:
        locate_reranker()
    except ConfigError as error:
        pytest.skip(str(error))
    found: dict[str, list[Figures]] = {}
    for name in ASKED:
        for held_out in (False, True):
            opened = open_set(name, held_out=held_out)
            ways = {**plain_searches(opened), **recipes(opened)}
            for way, search in ways.items():
                found.setdefault(way, []).extend(ask_all(opened, search).values())
    return found


def mean_of(way: str, measure: str) -> float:
    """The mean over the questions that a measure says something of."""
    return mean(one[measure] for one in asked()[way] if measure in one)


def test_the_sets_asked_here_are_sets_of_the_bench() -> None:
    assert set(ASKED) <= set(SETS)


@pytest.mark.parametrize("measure", ["hit@1", "hit@3", "hit@10", "opens"])
@pytest.mark.parametrize("way", [RECIPE, RERANKED])
def test_entries_are_found_and_citations_open_at_them(figures: list[str], way: str, measure: str) -> None:
    hold(figures, "questions", f"{way.replace(', ', '.')}.{measure}", mean_of(way, measure))


@pytest.mark.parametrize("measure", ["R@3", "R@10"])
@pytest.mark.parametrize("way", ["BM25", "dense", "RRF", "linear"])
def test_no_plain_search_over_the_same_chunks_finds_more(way: str, measure: str) -> None:
    assert mean_of(RECIPE, measure) >= mean_of(way, measure) - NOISE


def test_the_cross_encoder_lowers_nothing() -> None:
    assert mean_of(RERANKED, "R@10") >= mean_of(RECIPE, "R@10") - NOISE
