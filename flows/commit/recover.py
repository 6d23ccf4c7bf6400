"""Before step 4: what a crashed run left half done is finished or taken back."""

import logging

from flows.commit.publish import prune, publish_generation
from flows.commit.restore_ledger import restore_ledger
from flows.commit.show import show_missed
from flows.commit.verify import verify_generation
from flows.commit.write import declare, load_plan, write_plan
from flows.derive.embed import embed_chunks
from flows.run.models import is_same
from flows.run.pipeline import Pipeline
from indexes.manifest import VectorSpace
from indexes.publish.recover import Recovery, plan_recovery
from indexes.stores.ledger.generations import Generation, GenerationState
from indexes.stores.ledger.leases import Lease
from indexes.write.outbox import plan_sha256
from schemas.errors import DamageFound, SchemaMismatch
from schemas.records import from_record

_log = logging.getLogger(__name__)


def recover(pipeline: Pipeline, *, lease: Lease) -> tuple[int, ...]:
    """Close every unfinished generation, of a ledger that knows what readers see; give those now published.

    Raises: StaleLease: the index lease is another run's by now.
    """
    pipeline.index.ledger.leases.check(lease)
    show_missed(pipeline)
    restore_ledger(pipeline)
    unfinished = pipeline.index.ledger.generations.unfinished()
    plan = plan_recovery(unfinished, current=pipeline.index.current())
    return tuple(
        generation.generation
        for generation, recovery in plan
        if _close(pipeline, generation, recovery, lease=lease)
    )


def _close(pipeline: Pipeline, generation: Generation, recovery: Recovery, *, lease: Lease) -> bool:
    _log.warning("an earlier run left generation %d unfinished: %s", generation.generation, recovery.value)
    pipeline.crash_point("recover.midway")
    pipeline.index.ledger.leases.check(lease)
    if recovery is Recovery.ADOPT:
        pipeline.index.ledger.generations.mark(generation.generation, GenerationState.PUBLISHED)
        prune(pipeline.index, source=pipeline.source.name)
        return True
    if recovery is Recovery.REPLAY and _plan_is_whole(pipeline, generation):
        pipeline.progress.say(f"finishing generation {generation.generation} of an interrupted run")
        if _replay(pipeline, generation, lease=lease):
            return True
    pipeline.index.ledger.leases.check(lease)
    abort_generation(pipeline, generation)
    return False


def _replay(pipeline: Pipeline, generation: Generation, *, lease: Lease) -> bool:
    """Write and publish a frozen plan; false when the stores do not take it as it says.

    Such a plan would fail in every run to come; taken back, it is decided anew.
    """
    try:
        for part in load_plan(pipeline, generation):
            embed_chunks(pipeline, part.chunks)  # no work, unless the vectors were lost meanwhile
        staged = write_plan(pipeline, generation, lease=lease)
        verify_generation(pipeline, generation, staged)
    except (DamageFound, SchemaMismatch):
        return False
    publish_generation(pipeline, generation, staged, lease=lease)
    return True


def abort_generation(pipeline: Pipeline, generation: Generation) -> None:
    """Take a generation back, so that no store shows a trace of it."""
    declare(pipeline, generation)
    # One that was to write all rows anew builds on nothing, and the stores may no longer hold generation 0.
    base = generation.base or pipeline.index.current()
    pipeline.index.graph.writer().abort(generation.generation, base=base)
    pipeline.crash_point("abort.midway")
    pipeline.index.chunks.writer().abort(generation.generation, base=base)
    pipeline.index.ledger.generations.abort(generation.generation)


def _plan_is_whole(pipeline: Pipeline, generation: Generation) -> bool:
    """Whether every payload is there, unharmed, as it was frozen, and of the model of this run."""
    plan = load_plan(pipeline, generation)
    if not is_same(from_record(VectorSpace, generation.details["space"]).model, pipeline.model):
        return False
    if plan_sha256(plan.payloads, base=generation.base, source=generation.source) != generation.plan_sha:
        return False
    try:
        for _ in plan:
            pass
    except DamageFound:
        return False
    return True
