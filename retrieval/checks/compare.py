"""What questions have lost between two generations."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from indexes.ports import ChunkReader
from retrieval.checks.cites import is_cited
from retrieval.checks.examine import passage_of
from schemas.checks import Check, CheckFinding, Loss, Requirement, ShownPassage, Verdict

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
