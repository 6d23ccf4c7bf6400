"""How a run stands, as everybody tells it."""

import pytest

from schemas.documents import reason_of_run, state_of_run

STOPPED = {"reason": "StoreUnavailable: disk full"}


@pytest.mark.parametrize(
    ("state", "under_way", "told", "reason"),
    [
        ("running", True, "running", None),  # gone on with: what stopped it before is no news
        ("running", False, "interrupted", STOPPED["reason"]),
        ("refused", True, "refused", STOPPED["reason"]),  # the lease is that of a later run
        ("finished", False, "finished", STOPPED["reason"]),
    ],
)
def test_a_run_that_goes_on_has_no_reason_to_have_ended(
    state: str, under_way: bool, told: str, reason: str | None
) -> None:
    assert state_of_run(state, under_way=under_way) == told
    assert reason_of_run(state, STOPPED, under_way=under_way) == reason
