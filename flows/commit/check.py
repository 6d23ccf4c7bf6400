"""Between verify and publish: questions that the index answered are asked of the staged generation."""

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

from flows.commit.write import abort_generation
from flows.run.contexts import IndexContext
from flows.run.generations import readers_at
from flows.run.index import Index
from indexes.health import NAME, load_record, save_record
from indexes.publish.generation import load_generation
from indexes.stores.ledger.generations import Generation
from indexes.stores.ledger.leases import Lease
from retrieval.checks.examine import examine, examined
from retrieval.checks.losses import find_losses, render_losses
from retrieval.learning.questions import count_questions
from runtime.yaml_files import join_checks
from schemas.advice import ADVICE, Trouble
from schemas.errors import PublishHeld
from schemas.report import Check, CheckCounts, CheckRecord, OnFailure, Verdict
from schemas.settings import RunSettings
from schemas.source import Source

_log = logging.getLogger(__name__)


def checks_of(source: Source, settings: RunSettings) -> tuple[Check, ...]:
    """Read the questions that the source names, and those that the settings name for every source.

    Raises: ConfigError: a file cannot be read or is wrong.
    """
    return join_checks(Path(one).resolve() for one in (source.checks, settings.checks) if one)


def check_generation(run: IndexContext, generation: Generation, *, lease: Lease, accept: bool) -> None:
    """Ask the staged generation; where it is held, take it back, since the next run would publish it.

    Raises: PublishHeld: evidence that was there is gone, and *accept* is false; StaleLease.
    """
    record = ask_checks(run, generation, accept=accept)
    if record is None:
        return
    for line in render_losses(record.losses).splitlines():
        run.progress.say(line)
    if record.counts.held:
        run.index.ledger.leases.check(lease)
        abort_generation(run, generation)
        raise held_by(record)


def ask_checks(run: IndexContext, generation: Generation, *, accept: bool = False) -> CheckRecord | None:
    """Ask the staged *generation*, and its base where something is not met; keep and give what was lost.

    None where nothing is to be asked.
    """
    known = run.index.ledger.sources.all()  # a generation that another run left may be of another source
    checks = checks_of(known.get(generation.source, run.source), run.index.settings)
    if not checks:
        return None
    run.progress.say(f"asking {count_questions(len(checks))} of generation {generation.generation}")
    staged = examined(readers_at(run.index, generation.generation, generation.as_of, base=generation.base))
    after = _asked(run, checks, examine(checks, staged))
    failed = [one.check for one in after if not one.passed]
    before: tuple[Verdict, ...] = ()
    if failed and generation.base:
        as_of = load_generation(run.index.layout, generation.base).as_of
        readers = readers_at(run.index, generation.base, as_of, base=generation.base)
        before = _asked(run, failed, examine(failed, examined(readers)))
    losses = find_losses(before, after, staged.chunks)
    record = CheckRecord(
        source=generation.source,
        run_id=generation.run_id,
        generation=generation.generation,
        base=generation.base,
        as_of=generation.as_of,
        counts=CheckCounts(
            asked=len(after),
            passed=sum(one.passed for one in after),
            lost=len({one.check for one in losses}),
            held=not accept and any(one.on_failure is OnFailure.HOLD for one in losses),
        ),
        losses=losses,
    )
    save_record(run.index.layout, record)
    _log.info(
        "generation %d: %d of %d questions passed, %d lost their evidence",
        generation.generation,
        record.counts.passed,
        record.counts.asked,
        record.counts.lost,
    )
    return record


def held_by(record: CheckRecord) -> PublishHeld:
    """Return why nothing is published, with the first question, and where to read all."""
    first = next(one for one in record.losses if one.on_failure is OnFailure.HOLD)
    return PublishHeld(
        f"publishing is held: {record.counts.lost} of {count_questions(record.counts.asked)} lost evidence "
        f"that was there ({first.question!r}: {first.wanted}: {first.why}); {ADVICE[Trouble.CHECKS]}",
        subject=record.source,
    )


def counts_of_run(index: Index, run_id: str) -> CheckCounts:
    """Return what a run found when it asked; nothing where it did not."""
    record = load_record(index.layout)
    return record.counts if record is not None and record.run_id == run_id else CheckCounts()


def forget_hold(index: Index, source: str) -> None:
    """Forget what held a source once a run of it has ended well: nothing waits to be published any more."""
    record = load_record(index.layout)
    if record is not None and record.counts.held and record.source == source:
        (index.layout.root / NAME).unlink(missing_ok=True)


def _asked(run: IndexContext, checks: Sequence[Check], verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    run.progress.expect("check", len(checks))
    found = []
    for verdict in verdicts:
        run.raise_if_stopped()
        run.progress.advance("check", 1)
        found.append(verdict)
    return tuple(found)
