"""Taking back a generation that readers never saw."""

from flows.commit.write import declare
from flows.run.contexts import CommitContext
from indexes.stores.ledger.generations import Generation


def abort_generation(run: CommitContext, generation: Generation) -> None:
    """Take a generation back, so that no store shows a trace of it."""
    declare(run, generation)
    # One that was to write all rows again builds on nothing, and the stores may no longer hold generation 0.
    base = generation.base or run.index.current()
    run.index.graph.writer().abort(generation.generation, base=base)
    run.crash_point("abort.midway")
    run.index.chunks.writer().abort(generation.generation, base=base)
    run.index.ledger.generations.abort(generation.generation)
