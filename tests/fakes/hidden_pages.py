"""Sites of which it is known how many pages nothing names, in several shapes, drawn at random by a seed."""

import math
from dataclasses import dataclass
from random import Random

WAYS = ("sitemap", "link", "llms.txt", "feed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """So many pages, each named by the first ways with these chances.

    `spread`: the logit of all chances of a page is shifted by a normal deviate of so much: some pages are
    easy to find by every way, others hard. `forgotten`: the share of pages that every way names with the
    chance `seldom` alone.
    """

    pages: int
    chances: tuple[float, ...]
    spread: float = 0.0
    forgotten: float = 0.0
    seldom: float = 0.0


SHAPES = {
    "independent": Shape(pages=600, chances=(0.6, 0.5, 0.3)),
    "independent, two ways": Shape(pages=600, chances=(0.6, 0.5)),
    "visible": Shape(pages=1000, chances=(0.6, 0.5, 0.3), spread=1.5),
    "visible, two ways": Shape(pages=600, chances=(0.6, 0.5), spread=1.5),
    "forgotten": Shape(pages=600, chances=(0.8, 0.8, 0.6), forgotten=0.2, seldom=0.2),
    "forgotten, two ways": Shape(pages=600, chances=(0.8, 0.8), forgotten=0.2, seldom=0.2),
    "sitemap nearly whole": Shape(pages=500, chances=(0.97, 0.8, 0.4), spread=0.5),
    "tiny": Shape(pages=18, chances=(0.7, 0.6, 0.3)),
    "large": Shape(pages=20_000, chances=(0.7, 0.6, 0.2, 0.1), spread=1.0),
}


def draw_captures(shape: Shape, seed: int) -> list[frozenset[str]]:
    """Draw the ways that name each page; a page without any is hidden."""
    random = Random(seed)
    return [_ways_of_page(shape, random) for _ in range(shape.pages)]


def _ways_of_page(shape: Shape, random: Random) -> frozenset[str]:
    forgotten, shift = random.random() < shape.forgotten, random.gauss(0, 1) * shape.spread
    chances = (shape.seldom if forgotten else _shifted(chance, shift) for chance in shape.chances)
    return frozenset(way for way, chance in zip(WAYS, chances, strict=False) if random.random() < chance)


def _shifted(chance: float, shift: float) -> float:
    return 1 / (1 + math.exp(-(math.log(chance / (1 - chance)) + shift)))
