"""What becomes of a generation that a crash left half done."""

import pytest

from indexes.stores.ledger.generations import Generation, Recovery, plan_recovery
from indexes.stores.ledger.generations import GenerationState as S


def half_done(number: int, *, base: int, state: S) -> Generation:
    """A row of the generation table."""
    return Generation(
        generation=number,
        base=base,
        state=state,
        source="handbook",
        run_id="run-1",
        token=1,
        as_of="2026-03-01T12:00:00+00:00",
        plan_sha="p",
        details={},
    )


@pytest.mark.parametrize(
    ("state", "base", "current", "recovery"),
    [
        (S.STAGING, 4, 4, Recovery.ABORT),  # not frozen: nobody knows what it would have been
        (S.APPLYING, 4, 4, Recovery.REPLAY),
        (S.VERIFIED, 4, 4, Recovery.REPLAY),
        (S.APPLYING, 3, 4, Recovery.ABORT),  # somebody published in between
        (S.VERIFIED, 3, 4, Recovery.ABORT),
        (S.APPLYING, 4, 2, Recovery.ABORT),  # rolled back in between
        (S.VERIFIED, 4, 5, Recovery.ADOPT),  # CURRENT was renamed, the ledger not told
        (S.APPLYING, 4, 5, Recovery.ADOPT),
        (S.STAGING, 4, 5, Recovery.ADOPT),
        (S.APPLYING, 0, 0, Recovery.REPLAY),  # the first run of all
    ],
)
def test_current_wins_and_a_frozen_plan_is_replayed_on_its_own_base(
    state: S, base: int, current: int, recovery: Recovery
) -> None:
    generation = half_done(5, base=base, state=state)
    assert plan_recovery([generation], current=current) == ((generation, recovery),)


def test_several_are_closed_newest_first() -> None:
    rows = [half_done(n, base=4, state=S.APPLYING) for n in (5, 7, 6)]
    assert [g.generation for g, _ in plan_recovery(rows, current=4)] == [7, 6, 5]


def test_nothing_half_done_is_nothing_to_do() -> None:
    assert plan_recovery([], current=4) == ()
