"""How many pages nothing names: estimates against sites of which it is known, over twenty of each shape."""

import math
from collections.abc import Sequence
from statistics import median

import pytest

from ingest.plan.recapture import LOG_LINEAR, TWO_WAYS, estimate_unknown
from schemas.completeness import DiscoveryWay, UnknownPages
from tests.fakes.hidden_pages import SHAPES, Shape, draw_captures

RUNS = 20
HELD = 19


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_the_true_number_lies_within_the_interval_in_19_of_20_runs(shape: Shape) -> None:
    inside = 0
    for seed in range(RUNS):
        captures = draw_captures(shape, seed)
        found = estimate_unknown(filter(None, captures))
        hidden = sum(not ways for ways in captures)
        inside += _bounds(found)[0] <= hidden <= _bounds(found)[1]

    assert inside >= HELD


@pytest.mark.parametrize("shape", ["visible", "large"])
def test_the_model_for_three_ways_is_not_misled_by_dependence_as_chao_and_chapman_are(shape: str) -> None:
    chao, chapman, ours, truth = [], [], [], []
    for seed in range(RUNS):
        captures = draw_captures(SHAPES[shape], seed)
        named = [ways for ways in captures if ways]
        truth.append(sum(not ways for ways in captures))
        chao.append(_chao(named))
        chapman.append(_chapman(named))
        ours.append(estimate_unknown(named).likely or 0)

    assert median(ours) == pytest.approx(median(truth), rel=0.15)
    assert max(median(chao), median(chapman)) < 0.8 * median(truth)


def test_few_pages_of_a_third_way_leave_the_model_for_two() -> None:
    captures = [{"sitemap", "link"}] * 60 + [{"sitemap"}] * 30 + [{"link"}] * 20 + [{"sitemap", "llms.txt"}]

    assert estimate_unknown(captures).method == TWO_WAYS
    assert estimate_unknown(captures * 40).method == TWO_WAYS
    many = captures + [{"link", "llms.txt"}, {"llms.txt"}, {"sitemap", "link", "llms.txt"}] * 20
    assert estimate_unknown(many * 10).method == LOG_LINEAR


def test_two_ways_are_estimated_as_chapman_does() -> None:
    found = estimate_unknown([{"sitemap", "link"}] * 300 + [{"sitemap"}] * 300 + [{"link"}] * 200)

    assert found.likely == pytest.approx(_chapman_of(300, 300, 200), rel=0.01)


@pytest.mark.parametrize(
    ("captures", "why"),
    [
        ([], "nothing names its pages, and two are needed"),
        ([{DiscoveryWay.SEED}], "nothing names its pages, and two are needed"),
        (
            [{DiscoveryWay.SEED, "link"}, {"link"}],
            "one way alone names its pages (link), and two are needed",
        ),
        ([{"link"}, {"sitemap"}], "no page is named by two of link, sitemap"),
    ],
)
def test_what_cannot_be_estimated_is_said_not_to_be(captures: list[set[str]], why: str) -> None:
    found = estimate_unknown(captures)

    assert (found.likely, found.low, found.high, found.why) == (None, None, None, why)


def test_a_fourth_way_counts_with_the_next_smallest_and_the_order_of_pages_does_not_matter() -> None:
    captures = [set(ways) for ways in draw_captures(SHAPES["large"], 1) if ways]
    joined = [{"feed" if way == "llms.txt" else way for way in ways} for ways in captures]
    by_size = {way: sum(way in ways for ways in captures) for way in ("feed", "llms.txt", "link", "sitemap")}

    assert sorted(by_size, key=lambda way: by_size[way])[:2] == ["feed", "llms.txt"]
    assert estimate_unknown(captures) == estimate_unknown(captures[::-1]) == estimate_unknown(joined)


def _chapman_of(both: int, first: int, second: int) -> float:
    return first * second / (both + 1)


def _chapman(named: Sequence[frozenset[str]]) -> float:
    """Links against all lists."""
    linked = [DiscoveryWay.LINK in ways for ways in named]
    listed = [bool(ways - {DiscoveryWay.LINK}) for ways in named]
    both = sum(map(all, zip(linked, listed, strict=True)))
    return _chapman_of(both, sum(linked) - both, sum(listed) - both)


def _chao(named: Sequence[frozenset[str]]) -> float:
    """Chao (1987), Biometrics 43(4): the lower bound by pages that one way and two ways name."""
    once, twice = (sum(len(ways) == times for ways in named) for times in (1, 2))
    ways = len(frozenset().union(*named))
    return (ways - 1) / ways * once * (once - 1) / (2 * (twice + 1))


def test_the_interval_holds_the_estimate_and_grows_with_the_pages_that_one_way_alone_names() -> None:
    for alone in (0, 1, 5, 50, 500):
        found = estimate_unknown([{"sitemap", "link"}] * 100 + [{"link"}] * alone + [{"sitemap"}] * 10)
        low, high = _bounds(found)
        assert found.likely is not None
        assert low <= found.likely <= high
        assert high >= math.floor(alone / 10)


def _bounds(found: UnknownPages) -> tuple[int, int]:
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high
