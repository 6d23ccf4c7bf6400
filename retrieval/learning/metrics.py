"""What a ranking is worth against gold, and how sure a difference of two is."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 10_000
SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean difference with its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{100 * self.mean:+.1f} [{100 * self.low:+.1f}, {100 * self.high:+.1f}]"


def recall_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Share of *gold* among the first *k*; 1 where there is no gold."""
    return len(set(ranked[:k]) & set(gold)) / len(set(gold)) if gold else 1.0


def all_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """1 if all of *gold* is among the first *k*."""
    return float(recall_at(ranked, gold, k) == 1.0)


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """1 / rank of the first of *gold* among the first ten, else 0."""
    ranks = (rank for rank, key in enumerate(ranked[:10], start=1) if key in gold)
    return 1 / next(ranks, float("inf"))


def paired_bootstrap(values: Sequence[float], others: Sequence[float]) -> Interval:
    """Resample the differences per question 10,000 times, seed 0; percentiles 2.5 and 97.5.

    Where there is nothing to compare, nothing differs.
    """
    if not values:
        return Interval(mean=0.0, low=0.0, high=0.0)
    differences = np.array(values) - np.array(others)
    drawn = np.random.default_rng(SEED).integers(0, len(differences), (RESAMPLES, len(differences)))
    low, high = np.percentile(differences[drawn].mean(axis=1), [2.5, 97.5])
    return Interval(mean=float(differences.mean()), low=float(low), high=float(high))
