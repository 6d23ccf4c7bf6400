"""Step 8: both stores against the plan, before any reader sees them."""

import logging

from flows.commit.write import load_plan
from flows.run.contexts import CommitContext
from indexes.stores.ledger.generations import Generation, GenerationState
from indexes.verify.compare import check_counts, check_rows
from indexes.write.apply import StagedState
from schemas.changes import add_counts

_log = logging.getLogger(__name__)


def verify_generation(run: CommitContext, generation: Generation, staged: StagedState) -> None:
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
