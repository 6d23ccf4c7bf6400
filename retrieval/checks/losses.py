"""What questions have lost between two generations, and verdicts for people."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from indexes.ports import ChunkReader
from retrieval.checks.examine import is_cited, passage_of
from retrieval.learning.questions import count_questions
from schemas.redaction import one_line
from schemas.report import Check, CheckFinding, Loss, OnFailure, Requirement, ShownPassage, Verdict

OUTRANKED = "is still there, but no longer among the first {} passages"
GONE = "is gone"


def find_losses(before: Iterable[Verdict], after: Iterable[Verdict], chunks: ChunkReader) -> tuple[Loss, ...]:
    """Return what was met in the generation before and is not after it, in the order of *after*.

    What was not met before is no loss: a question may be written before its answer is. *chunks* are those of
    the generation after.
    """
    known = {one.check.id: one for one in before}
    return tuple(loss for one in after for loss in _losses(known, one, chunks))


def _losses(known: Mapping[str, Verdict], verdict: Verdict, chunks: ChunkReader) -> Iterator[Loss]:
    earlier = known.get(verdict.check.id)
    met = {(one.requirement, one.wanted): one for one in earlier.findings if one.met} if earlier else {}
    for finding in verdict.failures:
        if had := met.get((finding.requirement, finding.wanted)):
            yield _loss(verdict.check, had, _explained(verdict.check, finding, had, chunks))


def _loss(check: Check, had: CheckFinding, now: CheckFinding) -> Loss:
    return Loss(
        check=check.id,
        question=check.question,
        on_failure=check.on_failure,
        requirement=now.requirement,
        wanted=now.wanted,
        why=now.why,
        before=had.passage,
        after=now.passage,
    )


def _explained(check: Check, now: CheckFinding, had: CheckFinding, chunks: ChunkReader) -> CheckFinding:
    """Say of an entry that is not found whether it is still there."""
    if now.requirement is not Requirement.CITES or had.passage is None:
        return now
    there = _still_there(now.wanted, had.passage, chunks)
    why = OUTRANKED.format(check.top_k) if there else GONE
    return replace(now, why=why, passage=there)


def _still_there(entry: str, had: ShownPassage, chunks: ChunkReader) -> ShownPassage | None:
    left = (one for one in chunks.of_documents([had.doc]) if is_cited(entry, one))
    return next(map(passage_of, left), None)


def render_losses(losses: Sequence[Loss]) -> str:
    """Return each question that lost something: what it asks for, what stood there, what stands there now."""
    return "\n".join(line for one in losses for line in _loss_lines(one))


def render_verdicts(verdicts: Iterable[Verdict], *, generation: int) -> str:
    """Return the questions that failed and why, and how many passed."""
    verdicts = tuple(verdicts)
    failed = [one for one in verdicts if not one.passed]
    lines = [line for one in failed for line in _verdict(one)]
    passed = f"{len(verdicts) - len(failed)} of {count_questions(len(verdicts))} passed"
    return "\n".join([*lines, f"generation {generation}: {passed}"])


def say_failure(finding: CheckFinding) -> str:
    """Say what is not met, in one line."""
    return one_line(f"{finding.requirement.value}: {finding.wanted}: {finding.why}")


def _verdict(verdict: Verdict) -> Iterator[str]:
    yield one_line(f"{_name(verdict.check)}{_where(verdict.check)}")
    for one in verdict.failures:
        yield f"  {say_failure(one)}"
        if one.passage:
            yield f"  + {_shown(one.passage)}"


def _loss_lines(loss: Loss) -> Iterator[str]:
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
