"""Step 7: the frozen plan goes from the outbox into both stores."""

import logging
from collections.abc import Sequence
from functools import partial

from flows.commit.rebuild_stores import REPAIR, empty_stores
from flows.run.contexts import CommitContext
from flows.run.index import Index
from flows.run.values import Frozen
from indexes.maintenance import discard_if_damaged
from indexes.manifest import VectorSpace
from indexes.publish.generation import load_generation, store_state
from indexes.stores.ledger.generations import Generation
from indexes.stores.ledger.leases import Lease
from indexes.write.apply import StagedState, apply_plan
from indexes.write.outbox import Plan
from schemas.causes import caused_by
from schemas.cost import Cause
from schemas.errors import DamageFound
from schemas.records import from_record

_log = logging.getLogger(__name__)


def find_generation(index: Index, frozen: Frozen) -> Generation:
    """The row of a frozen generation.

    Raises: DamageFound: the ledger knows no such generation.
    """
    generation = index.ledger.generations.get(frozen.generation)
    if generation is None:
        raise DamageFound("is not in the ledger", subject=f"generation {frozen.generation}")
    return generation


def load_plan(run: CommitContext, generation: Generation) -> Plan:
    """The frozen plan of a generation, read from the outbox."""
    payloads: Sequence[str] = run.index.ledger.generations.payloads(generation.generation)
    return Plan(store=run.index.outbox, payloads=tuple(payloads))


def write_plan(run: CommitContext, generation: Generation, *, lease: Lease) -> StagedState:
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


def declare(run: CommitContext, generation: Generation) -> None:
    """Let the chunk store know where a frozen generation has its vectors; one that is not frozen has none."""
    if "space" in generation.details:
        space = from_record(VectorSpace, generation.details["space"])
        run.index.chunks.declare(generation.generation, space)
