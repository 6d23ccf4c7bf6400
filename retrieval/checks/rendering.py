"""Verdicts and losses for people."""

from collections.abc import Iterable, Iterator, Sequence

from schemas.checks import Check, CheckFinding, Loss, OnFailure, ShownPassage, Verdict
from schemas.redaction import one_line


def render_losses(losses: Sequence[Loss]) -> str:
    """Return each question that lost something: what it asks for, what stood there, what stands there now."""
    return "\n".join(line for one in losses for line in _loss(one))


def render_verdicts(verdicts: Iterable[Verdict], *, generation: int) -> str:
    """Return the questions that failed and why, and how many passed."""
    verdicts = tuple(verdicts)
    failed = [one for one in verdicts if not one.passed]
    lines = [line for one in failed for line in _verdict(one)]
    said = f"generation {generation}: {len(verdicts) - len(failed)} of {count(len(verdicts))} passed"
    return "\n".join([*lines, said])


def count(questions: int) -> str:
    """Say how many questions.

    >>> count(1), count(2)
    ('1 question', '2 questions')
    """
    return f"{questions} question" if questions == 1 else f"{questions} questions"


def say_failure(finding: CheckFinding) -> str:
    """Say what is not met, in one line."""
    return one_line(f"{finding.requirement.value}: {finding.wanted}: {finding.why}")


def _verdict(verdict: Verdict) -> Iterator[str]:
    yield one_line(f"{_name(verdict.check)}{_where(verdict.check)}")
    for one in verdict.failures:
        yield f"  {say_failure(one)}"
        if one.passage:
            yield f"  + {_shown(one.passage)}"


def _loss(loss: Loss) -> Iterator[str]:
    reported = " (reported only)" if loss.on_failure is OnFailure.REPORT else ""
    yield one_line(f"{loss.question}{reported}")
    yield one_line(f"  {loss.requirement.value}: {loss.wanted}: {loss.why}")
    yield f"  - {_shown(loss.before)}"
    yield f"  + {_shown(loss.after)}"


def _shown(passage: ShownPassage | None) -> str:
    return one_line(f"{passage.text} ({passage.citation})") if passage else "nothing"


def _name(check: Check) -> str:
    return check.question if check.id == check.question else f"{check.id}: {check.question}"


def _where(check: Check) -> str:
    return f" ({check.where})" if check.where else ""
