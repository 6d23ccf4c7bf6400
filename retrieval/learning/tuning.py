"""Weights of the blend fitted to questions with known answers, and held against questions they never saw."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean

import numpy as np

from retrieval.learning.questions import FOLDS, PARTS, Captured
from retrieval.ranking.score import WEIGHTS
from schemas.evidence import Scores

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


STEPS = 20
"""The grid is .05."""
ROUNDS_MAX = 20

Point = tuple[int, ...]
"""A weight for each part in steps of .05, 20 in all."""


def weights_at(point: Point) -> Scores:
    """Return the weights of a point of the grid."""
    return Scores(**{name: count / STEPS for name, count in zip(PARTS, point, strict=True)})


def point_of(weights: Scores) -> Point | None:
    """Return the point of the grid that *weights* are, None where they lie beside it."""
    point = tuple(round(getattr(weights, name) * STEPS) for name in PARTS)
    return point if sum(point) == STEPS and weights_at(point) == weights else None


def search(value_of: Callable[[Point], float], start: Point) -> Point:
    """Climb from *start* to a point that no single exchange between two parts betters.

    Coordinate search in a fixed order: each part in turn takes from each other as many steps as help most; of
    equals the fewest, so that what does not matter stays as it was.
    """
    best, value = start, value_of(start)
    for _ in range(ROUNDS_MAX):
        before = best
        for gains in range(len(PARTS)):
            for gives in range(len(PARTS)):
                if gains != gives:
                    best, value = _exchange(value_of, best, value, gains=gains, gives=gives)
        if best == before:
            break
    return best


def _exchange(
    value_of: Callable[[Point], float], best: Point, value: float, *, gains: int, gives: int
) -> tuple[Point, float]:
    start = best
    for steps in range(1, start[gives] + 1):
        point = tuple(
            count + (steps if part == gains else -steps if part == gives else 0)
            for part, count in enumerate(start)
        )
        found = value_of(point)
        if found > value + 1e-9:
            best, value = point, found
    return best, value


TOLERANCE = -0.005
"""The held-out interval of the gain must lie above this."""

Measures = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfTable:
    """The measures of one half of the questions under the weights in use and under the fitted ones."""

    questions: int
    before: Measures
    after: Measures


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """What was fitted and what it is worth.

    `cross_validated` is the gain on folds of the tuning half that were left out in turn, `held_out` that on
    the other half; both of the mean of R@5 and all@10. `accepted` says that the weights may be used.
    """

    before: Scores
    after: Scores
    tuned: HalfTable
    held: HalfTable
    cross_validated: Interval
    held_out: Interval
    accepted: bool
    reason: str


def tune_blend(questions: Sequence[Captured], *, current: Scores = WEIGHTS) -> Tuning:
    """Fit weights on the tuning half, and accept them only if the held-out half does not lose by them.

    Where cross-validation inside the tuning half shows no gain, the weights in use stay.
    """
    trial = _Trial(questions=tuple(questions), current=current)
    tuned = [at for at, one in enumerate(questions) if not one.question.is_held_out]
    held = [at for at, one in enumerate(questions) if one.question.is_held_out]
    checked = trial.cross_validate(tuned)
    after = weights_at(trial.fit(tuned)) if checked.mean > 0 else current
    held_out = paired_bootstrap(trial.values(held, after), trial.values(held, current))
    reason = _reason(current, after, held_out)
    return Tuning(
        before=current,
        after=after,
        tuned=trial.table(tuned, after),
        held=trial.table(held, after),
        cross_validated=checked,
        held_out=held_out,
        accepted=not reason,
        reason=reason or "the gain holds on questions that were not tuned on",
    )


def _reason(current: Scores, after: Scores, held_out: Interval) -> str:
    if after == current:
        return "no other weights do better on questions left out of the fit"
    if held_out.low <= TOLERANCE:
        return (
            f"on questions left out of the tuning, the gain may be as low as {100 * held_out.low:+.1f} points"
        )
    return ""


@dataclass(slots=True, kw_only=True)
class _Trial:
    """Questions under many weights; each value is computed once."""

    questions: tuple[Captured, ...]
    current: Scores
    seen: dict[tuple[int, Scores], float] = field(default_factory=dict)

    def fit(self, among: Sequence[int]) -> Point:
        """Return the best point for the questions *among*."""
        start = point_of(self.current) or point_of(WEIGHTS)
        assert start is not None, "the default weights lie on the grid"
        return search(lambda point: mean(self.values(among, weights_at(point))), start)

    def cross_validate(self, among: Sequence[int]) -> Interval:
        """Fit without each fold in turn and give what that gains on the fold, over all folds."""
        gained: list[float] = []
        before: list[float] = []
        for fold in range(FOLDS):
            left_out = [at for at in among if self.questions[at].question.fold == fold]
            others = [at for at in among if self.questions[at].question.fold != fold]
            if left_out and others:
                gained += self.values(left_out, weights_at(self.fit(others)))
                before += self.values(left_out, self.current)
        return paired_bootstrap(gained, before)

    def values(self, among: Sequence[int], weights: Scores) -> list[float]:
        """Return the target of each question: the mean of R@5 and all@10."""
        return [self._value(at, weights) for at in among]

    def _value(self, at: int, weights: Scores) -> float:
        if (at, weights) not in self.seen:
            one = self.questions[at]
            ranked, gold = one.rank_documents(weights), one.question.gold
            self.seen[at, weights] = (recall_at(ranked, gold, 5) + all_at(ranked, gold, 10)) / 2
        return self.seen[at, weights]

    def table(self, among: Sequence[int], after: Scores) -> HalfTable:
        """Measure some questions before and after."""
        asked = [self.questions[at] for at in among]
        return HalfTable(
            questions=len(asked), before=_measure(asked, self.current), after=_measure(asked, after)
        )


def _measure(asked: Sequence[Captured], weights: Scores) -> Measures:
    pairs = [(one.rank_documents(weights), one.question.gold) for one in asked]
    return {
        "R@5": mean(recall_at(ranked, gold, 5) for ranked, gold in pairs),
        "R@10": mean(recall_at(ranked, gold, 10) for ranked, gold in pairs),
        "all@10": mean(all_at(ranked, gold, 10) for ranked, gold in pairs),
        "MRR": mean(reciprocal_rank(ranked, gold) for ranked, gold in pairs),
    }


def render_tuning(tuning: Tuning) -> str:
    """Return weights, the tables of both halves and the gain with its 95 % interval, in points."""
    return "\n".join(_lines(tuning))


def _lines(tuning: Tuning) -> Iterator[str]:
    yield f"{'':28}" + "".join(f"{name:>10}" for name in PARTS)
    for name, weights in (("weights in use", tuning.before), ("weights fitted", tuning.after)):
        yield f"{name:28}" + "".join(f"{getattr(weights, part):10.2f}" for part in PARTS)
    yield ""
    measures = list(tuning.tuned.before)
    yield f"{'':28}" + "".join(f"{name:>10}" for name in measures)
    for name, table in (("tuned on", tuning.tuned), ("held out", tuning.held)):
        yield from _rows(name, table, measures)
    yield ""
    yield f"gain, cross-validated: {tuning.cross_validated}"
    yield f"gain, held out: {tuning.held_out}"
    yield f"{'accepted' if tuning.accepted else 'not accepted'}: {tuning.reason}"


def _rows(name: str, table: HalfTable, measures: list[str]) -> Iterator[str]:
    for when, values in (("before", table.before), ("after", table.after)):
        label = f"{name} ({table.questions}), {when}"
        yield f"{label:28}" + "".join(f"{100 * values[one]:10.1f}" for one in measures)
