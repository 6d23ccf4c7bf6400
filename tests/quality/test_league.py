"""Pages of two public sites, by questions that others asked of them, against floors and plain rankings."""

from collections.abc import Mapping
from functools import cache
from statistics import mean

import pytest

from bench.questions.asking import Figures
from bench.questions.league import PLAIN, Ways, play
from tests.fakes.real_sites import DATA
from tests.quality.floors import hold

pytestmark = [pytest.mark.data, pytest.mark.long, pytest.mark.timeout(3600)]

ASKED = ("fastapi-docs", "react-dev")
"""The sites of the league that the data folder has; `make bench-league` asks all."""


@cache
def pages() -> Ways:
    """All questions of the sites in all ways."""
    if not DATA.is_dir():
        pytest.skip(f"no sites: {DATA} is not there")
    found: Ways = {}
    for name in ASKED:
        play(name, found, {})
    return found


def mean_of(asked: Mapping[str, Figures], measure: str) -> float:
    """The mean over all questions."""
    return mean(figures[measure] for figures in asked.values())


@pytest.mark.parametrize("measure", ["MRR", "hit@5"])
@pytest.mark.parametrize("way", ["graph", "graph, rerank"])
def test_the_right_page_comes_first(figures: list[str], way: str, measure: str) -> None:
    hold(figures, "league", f"{way.replace(', ', '.')}.{measure}", mean_of(pages()[way], measure))


@pytest.mark.parametrize("plain", PLAIN)
def test_no_plain_ranking_has_it_before(plain: str) -> None:
    assert mean_of(pages()["graph"], "MRR") > mean_of(pages()[plain], "MRR")
