"""Weights of the blend fitted to questions with known answers, and held against questions they never saw."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean

from retrieval.learning.captured import Captured
from retrieval.learning.metrics import Interval, all_at, paired_bootstrap, recall_at, reciprocal_rank
from retrieval.learning.questions import FOLDS
from retrieval.learning.simplex import Point, point_of, search, weights_at
from retrieval.ranking.score import WEIGHTS
from schemas.evidence import Scores

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
