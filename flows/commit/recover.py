"""Before step 4: what a crashed run left half done is finished or taken back; rows published at once."""

import logging

from flows.commit.check import ask_checks
from flows.commit.publish import prune_generations, publish_generation, show_missed
from flows.commit.restore import restore_ledger
from flows.commit.write import abort_generation, load_plan, verify_generation, write_plan
from flows.derive.embed import embed_chunks
from flows.derive.freeze import PlannedRows, freeze_rows
from flows.run.contexts import IndexContext
from flows.run.resources import Resources
from flows.run.values import Difference
from flows.run.versions import is_same
from indexes.frozen_plan import plan_sha256
from indexes.layout import VectorSpace
from indexes.stores.ledger.generations import Generation, GenerationState, Recovery, plan_recovery
from indexes.stores.ledger.leases import Lease
from schemas.errors import ConfigError, DamageFound, SchemaMismatch
from schemas.records import from_record

_log = logging.getLogger(__name__)


def finish_interrupted(run: IndexContext, *, lease: Lease) -> tuple[int, ...]:
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


def _close(run: IndexContext, generation: Generation, recovery: Recovery, *, lease: Lease) -> bool:
    _log.warning("an earlier run left generation %d unfinished: %s", generation.generation, recovery.value)
    run.crash_point("recover.midway")
    run.index.ledger.leases.check(lease)
    if recovery is Recovery.ADOPT:
        run.index.ledger.generations.mark(generation.generation, GenerationState.PUBLISHED)
        prune_generations(run.index, source=run.source.name)
        return True
    if recovery is Recovery.REPLAY and _plan_is_whole(run, generation):
        run.progress.say(f"finishing generation {generation.generation} of an interrupted run")
        if _replay(run, generation, lease=lease):
            return True
    run.index.ledger.leases.check(lease)
    abort_generation(run, generation)
    return False


def _replay(run: IndexContext, generation: Generation, *, lease: Lease) -> bool:
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
    prune_generations(run.index, source=run.source.name)
    return True


def _is_held(run: IndexContext, generation: Generation) -> bool:
    """Whether questions have lost their evidence, or cannot be asked here."""
    try:
        asked = ask_checks(run, generation)
    except (ConfigError, DamageFound):
        return True
    return asked is not None and asked.counts.held


def _plan_is_whole(run: IndexContext, generation: Generation) -> bool:
    """Whether the plan names the payloads that were frozen, and is of the model of this run."""
    payloads = load_plan(run, generation).payloads
    if not is_same(from_record(VectorSpace, generation.details["space"]).model, run.model):
        return False
    return plan_sha256(payloads, base=generation.base, source=generation.source) == generation.plan_sha


def publish_rows(
    resources: Resources,
    difference: Difference,
    planned: PlannedRows,
    *,
    lease: Lease,
    as_of: str,
    embedded: int = 0,
) -> Generation:
    """Freeze rows, write and publish them; *embedded* texts got their vector before they were planned.

    Raises: DamageFound, SchemaMismatch: the stores do not take them, and the generation is taken back.
    """
    run, texts = resources.indexing(), embedded + planned.texts
    made = freeze_rows(run, difference, planned, lease=lease, as_of=as_of, embedded=texts)
    try:
        staged = write_plan(run, made, lease=lease)
        verify_generation(run, made, staged)
    except (DamageFound, SchemaMismatch):
        abort_generation(run, made)
        raise
    publish_generation(run, made, staged, lease=lease)
    return made
