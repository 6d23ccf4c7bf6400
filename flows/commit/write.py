"""Step 7: the frozen plan goes from the outbox into both stores."""

import logging
from collections.abc import Sequence
from functools import partial

from flows.commit.repair import empty_stores
from flows.run.pipeline import Pipeline
from indexes.manifest import VectorSpace
from indexes.stores.ledger.generations import Generation
from indexes.stores.ledger.leases import Lease
from indexes.write.apply import StagedState, apply_plan
from indexes.write.outbox import Plan
from schemas.records import from_record

_log = logging.getLogger(__name__)


def load_plan(pipeline: Pipeline, generation: Generation) -> Plan:
    """The frozen plan of a generation, read from the outbox."""
    payloads: Sequence[str] = pipeline.index.ledger.generations.payloads(generation.generation)
    return Plan(store=pipeline.index.outbox, payloads=tuple(payloads))


def write_plan(pipeline: Pipeline, generation: Generation, *, lease: Lease) -> StagedState:
    """Apply a frozen plan to the graph store, then to the chunk store.

    Raises: StaleLease: another run has taken over; no reader sees what was written.
    """
    if generation.base == 0 and pipeline.index.current() != 0:
        empty_stores(pipeline.index)
    declare(pipeline, generation)
    return apply_plan(
        load_plan(pipeline, generation),
        generation=generation.generation,
        base=generation.base,
        graph=pipeline.index.graph.writer(),
        chunks=pipeline.index.chunks.writer(),
        vectors_of=pipeline.encoding.vectors,
        dim=pipeline.model.dim,
        fence=partial(pipeline.index.ledger.leases.check, lease),
        crash_point=pipeline.crash_point,
    )


def declare(pipeline: Pipeline, generation: Generation) -> None:
    """Let the chunk store know where a frozen generation has its vectors; one that is not frozen has none."""
    if "space" in generation.details:
        space = from_record(VectorSpace, generation.details["space"])
        pipeline.index.chunks.declare(generation.generation, space)
