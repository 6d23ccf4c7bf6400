"""Steps 7 and 8: the frozen plan written into both stores, verified there, or taken back."""

import logging
from collections.abc import Sequence
from functools import partial

from flows.commit.restore import REPAIR, empty_stores
from flows.run.contexts import IndexContext
from flows.run.index import Index
from flows.run.values import Frozen
from indexes.frozen_plan import Plan, StagedState, apply_plan, check_counts, check_rows
from indexes.health import discard_if_damaged
from indexes.layout import VectorSpace
from indexes.publish.generation import load_generation, store_state
from indexes.stores.ledger.generations import Generation, GenerationState
from indexes.stores.ledger.leases import Lease
from schemas.changes import add_counts
from schemas.cost import Cause, caused_by
from schemas.errors import DamageFound
from schemas.records import from_record

_log = logging.getLogger(__name__)


def require_generation(index: Index, frozen: Frozen) -> Generation:
    """The row of a frozen generation.

    Raises: DamageFound: the ledger knows no such generation.
    """
    generation = index.ledger.generations.get(frozen.generation)
    if generation is None:
        raise DamageFound("is not in the ledger", subject=f"generation {frozen.generation}")
    return generation


def load_plan(run: IndexContext, generation: Generation) -> Plan:
    """The frozen plan of a generation, read from the outbox."""
    payloads: Sequence[str] = run.index.ledger.generations.payloads(generation.generation)
    return Plan(store=run.index.outbox, payloads=tuple(payloads))


def write_plan(run: IndexContext, generation: Generation, *, lease: Lease) -> StagedState:
    """Apply a frozen plan to the graph store, then to the chunk store.

    Raises: StaleLease: another run has taken over; no reader sees what was written.
    """
    if generation.base == 0 and run.index.current() != 0:
        empty_stores(run.index)
    for path, what in discard_if_damaged(run.index.layout, run.index.manifest):
        _log.warning("%s %s; building on what readers see instead of what maintenance made", path, what)
    declare(run, generation)
    with caused_by(Cause.WRITE):
        return apply_plan(
            load_plan(run, generation),
            generation=generation.generation,
            base=generation.base,
            graph=run.index.graph.writer(),
            chunks=run.index.chunks.writer(),
            vectors_of=run.encoding().vectors,
            tokens_of=run.encoding().tokens,
            dim=run.model.dim,
            fence=partial(run.index.ledger.leases.check, lease),
            crash_point=run.crash_point,
            # What is repaired does not contain what it was published with: everything is read.
            before=None if generation.source == REPAIR else _state_of(run.index, generation.base),
        )


def _state_of(index: Index, number: int) -> StagedState | None:
    """What the stores contain at a published generation, as it says itself; None where it does not."""
    try:
        records = load_generation(index.layout, number).stores
    except DamageFound:
        return None
    found = {table: state for table, record in records.items() if (state := store_state(record))}
    return StagedState(**found) if found.keys() == {"chunks", "nodes", "edges"} else None


def declare(run: IndexContext, generation: Generation) -> None:
    """Let the chunk store know where a frozen generation has its vectors; one that is not frozen has none."""
    if "space" in generation.details:
        space = from_record(VectorSpace, generation.details["space"])
        run.index.chunks.declare(generation.generation, space)


def verify_generation(run: IndexContext, generation: Generation, staged: StagedState) -> None:
    """Check the staged generation.

    Raises: DamageFound: a store does not hold what the plan says; nothing is published.
    """
    expected: dict[str, dict[str, int]] = {}
    for counts in generation.details["sources"].values():
        expected = add_counts(expected, counts)
    check_counts(staged, expected)
    check_rows(
        load_plan(run, generation),
        chunks=run.index.chunks.at(generation.generation),
        graph=run.index.graph.at(generation.generation),
    )
    run.index.ledger.generations.mark(generation.generation, GenerationState.VERIFIED)
    _log.info("generation %d verified: both stores hold what its plan says", generation.generation)
    run.crash_point("verify.passed")


def abort_generation(run: IndexContext, generation: Generation) -> None:
    """Take a generation back, so that no store shows a trace of it."""
    declare(run, generation)
    # One that was to write all rows again builds on nothing, and the stores may no longer hold generation 0.
    base = generation.base or run.index.current()
    run.index.graph.writer().abort(generation.generation, base=base)
    run.crash_point("abort.midway")
    run.index.chunks.writer().abort(generation.generation, base=base)
    run.index.ledger.generations.abort(generation.generation)
