"""How many pages a source likely has that nothing names: capture and recapture over the ways to find them.

Each way (sitemap, links, llms.txt, …) is a sample of the pages; how far the samples overlap tells how many
pages none of them has. But they are not independent: prominent pages are in all, forgotten ones in none. So
three ways are estimated by the log-linear model that has every interaction of two of them, and two ways as if
they were independent (Chapman). What a model cannot see widens its interval: the dependence of the three, and
of the two, up to an association of a size that is usual, more upwards, since dependence is mostly positive.

Sources: Bishop, Fienberg and Holland (1975), "Discrete Multivariate Analysis", 6.4; Chapman (1951); for the
widening Gerritse, van der Heijden and Bakker (2015), "Sensitivity of Population Size Estimation for Violating
Parametric Assumptions in Log-linear Models", Journal of Official Statistics 31(3). What else was tried, and
what the intervals are worth: docs/rules/completeness.md.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from schemas.completeness import DiscoveryWay, UnknownPages

SMALL, MEDIUM, LARGE = 1.68, 3.47, 6.71
"""Odds ratios of associations. Source: Chen, Cohen and Chen (2010), Commun. Stat. Simul. Comput. 39(4)."""

NORMAL = 1.96
"""Standard deviations on either side that 95 of 100 values lie within."""

MOST_WAYS = 3
_HALF = 0.5
"""Added to each count, so that a cell without a page is no proof. Source: Bishop, 12.3; Chapman adds 1."""

LOG_LINEAR, TWO_WAYS = "log-linear", "two ways"

Ways = frozenset[str]


def estimate_unknown(captures: Iterable[Collection[str]]) -> UnknownPages:
    """Estimate how many pages no way names, by the ways that name each known one; seeds are no sample.

    Of the model for two ways and that for three the one counts whose interval is narrower in proportion:
    with few pages in a cell the larger model knows less.
    """
    found = Counter(frozenset(ways) - {DiscoveryWay.SEED} for ways in captures)
    del found[frozenset()]
    names = sorted({way for ways in found for way in ways})
    if len(names) < 2:
        told = f"one way alone names its pages ({names[0]})" if names else "nothing names its pages"
        return UnknownPages(why=f"{told}, and two are needed")
    two, three = (_joined(found, names, most) for most in (2, MOST_WAYS))
    models = [_of_two(two)] if two[3] else []
    if len(names) > 2:
        models.append(_of_three(three))
    if not models:
        return UnknownPages(why=f"no page is named by two of {', '.join(names)}")
    model = min(models, key=lambda one: one.down * one.up)
    low, high = model.likely / model.down, model.likely * model.up
    return UnknownPages(
        likely=round(model.likely),
        low=max(0, math.floor(low - NORMAL * math.sqrt(low))),
        high=math.ceil(high + NORMAL * math.sqrt(high)),
        method=model.name,
    )


class _Model(NamedTuple):
    """An estimate, and the factors by which the expected number may be lower or higher."""

    name: str
    likely: float
    down: float
    up: float


def _joined(found: Counter[Ways], names: Sequence[str], most: int) -> Sequence[int]:
    """Count pages by the sum of 1, 2 and 4 for each way that names them; the smallest ways count as one."""
    groups = [frozenset({name}) for name in names]
    while len(groups) > most:
        groups.sort(key=lambda group: (-_size(found, group), sorted(group)))
        groups[-2:] = [groups[-2] | groups[-1]]
    counts = [0] * 2 ** len(groups)
    for ways, pages in found.items():
        counts[sum(2**place for place, group in enumerate(groups) if group & ways)] += pages
    return counts


def _size(found: Counter[Ways], group: Ways) -> int:
    return sum(pages for ways, pages in found.items() if ways & group)


def _of_two(counts: Sequence[int]) -> _Model:
    first, second, both = (counts[cell] + _HALF for cell in (1, 2, 3))
    error = _factor(first, second, both)
    return _Model(TWO_WAYS, first * second / both, error * MEDIUM, error * LARGE)


def _of_three(counts: Sequence[int]) -> _Model:
    odd, even = ([counts[cell] + _HALF for cell in cells] for cells in ((1, 2, 4, 7), (3, 5, 6)))
    error = _factor(*odd, *even)
    return _Model(LOG_LINEAR, math.prod(odd) / math.prod(even), error * SMALL, error * MEDIUM)


def _factor(*cells: float) -> float:
    """By what factor the ratio of counts may be wrong by chance (the delta method)."""
    return math.exp(NORMAL * math.sqrt(sum(1 / cell for cell in cells)))
