"""What to do about generations that a crash left half done."""

from collections.abc import Sequence
from enum import StrEnum

from indexes.stores.ledger.generations import Generation, GenerationState


class Recovery(StrEnum):
    """How a half-done generation is closed."""

    ABORT = "abort"
    REPLAY = "replay"
    ADOPT = "adopt"


def plan_recovery(
    unfinished: Sequence[Generation], *, current: int
) -> tuple[tuple[Generation, Recovery], ...]:
    """Decide for each unfinished generation, newest first.

    `CURRENT` wins: a generation it names was published. A frozen plan is replayed if it still builds on
    what readers see; everything else is aborted (docs/generations.md).
    """
    return tuple(
        (generation, _decide(generation, current))
        for generation in sorted(unfinished, key=lambda g: -g.generation)
    )


def _decide(generation: Generation, current: int) -> Recovery:
    if generation.generation == current:
        return Recovery.ADOPT
    frozen = generation.state in (GenerationState.APPLYING, GenerationState.VERIFIED)
    return Recovery.REPLAY if frozen and generation.base == current else Recovery.ABORT
