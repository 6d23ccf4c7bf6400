"""Before step 4: what a crashed run left half done is finished or taken back."""

import logging

from flows.commit.abort import abort_generation
from flows.commit.check import ask_checks
from flows.commit.publish import prune, publish_generation
from flows.commit.restore_ledger import restore_ledger
from flows.commit.show import show_missed
from flows.commit.verify import verify_generation
from flows.commit.write import load_plan, write_plan
from flows.derive.embed import embed_chunks
from flows.run.contexts import CommitContext
from flows.run.models import is_same
from indexes.manifest import VectorSpace
from indexes.publish.recover import Recovery, plan_recovery
from indexes.stores.ledger.generations import Generation, GenerationState
from indexes.stores.ledger.leases import Lease
from indexes.write.outbox import plan_sha256
from schemas.errors import ConfigError, DamageFound, SchemaMismatch
from schemas.records import from_record

_log = logging.getLogger(__name__)


def recover(run: CommitContext, *, lease: Lease) -> tuple[int, ...]:
    """Close every unfinished generation, of a ledger that knows what readers see; give those now published.

    Raises: StaleLease: the index lease is another run's by now.
    """
    run.index.ledger.leases.check(lease)
    show_missed(run)
    restore_ledger(run)
    unfinished = run.index.ledger.generations.unfinished()
    plan = plan_recovery(unfinished, current=run.index.current())
    return tuple(
        generation.generation
        for generation, recovery in plan
        if _close(run, generation, recovery, lease=lease)
    )


def _close(run: CommitContext, generation: Generation, recovery: Recovery, *, lease: Lease) -> bool:
    _log.warning("an earlier run left generation %d unfinished: %s", generation.generation, recovery.value)
    run.crash_point("recover.midway")
    run.index.ledger.leases.check(lease)
    if recovery is Recovery.ADOPT:
        run.index.ledger.generations.mark(generation.generation, GenerationState.PUBLISHED)
        prune(run.index, source=run.source.name)
        return True
    if recovery is Recovery.REPLAY and _plan_is_whole(run, generation):
        run.progress.say(f"finishing generation {generation.generation} of an interrupted run")
        if _replay(run, generation, lease=lease):
            return True
    run.index.ledger.leases.check(lease)
    abort_generation(run, generation)
    return False


def _replay(run: CommitContext, generation: Generation, *, lease: Lease) -> bool:
    """Write and publish a frozen plan; false when the stores do not take it as it says.

    Such a plan would fail in every run to come; taken back, it is decided again.
    """
    try:
        for part in load_plan(run, generation):
            embed_chunks(run.encoding(), part.chunks)  # no work, unless the vectors were lost meanwhile
        staged = write_plan(run, generation, lease=lease)
        verify_generation(run, generation, staged)
    except (DamageFound, SchemaMismatch):
        return False
    if _is_held(run, generation):
        return False  # decided again, and held with its reasons, by a run of its source
    publish_generation(run, generation, staged, lease=lease)
    prune(run.index, source=run.source.name)
    return True


def _is_held(run: CommitContext, generation: Generation) -> bool:
    """Whether questions have lost their evidence, or cannot be asked here."""
    try:
        asked = ask_checks(run, generation)
    except (ConfigError, DamageFound):
        return True
    return asked is not None and asked.counts.held


def _plan_is_whole(run: CommitContext, generation: Generation) -> bool:
    """Whether every payload is there, unharmed, as it was frozen, and of the model of this run."""
    plan = load_plan(run, generation)
    if not is_same(from_record(VectorSpace, generation.details["space"]).model, run.model):
        return False
    if plan_sha256(plan.payloads, base=generation.base, source=generation.source) != generation.plan_sha:
        return False
    try:
        for _ in plan:
            pass
    except DamageFound:
        return False
    return True
