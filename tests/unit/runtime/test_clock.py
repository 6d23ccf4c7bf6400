"""The clock of an index, which goes on where that of the machine was set back."""

from datetime import UTC, datetime, timedelta
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from runtime.clock import SteadyClock, SystemClock

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
times = st.integers(-100_000, 100_000).map(lambda seconds: NOON + timedelta(seconds=seconds))


@given(st.lists(st.tuples(times, st.integers(0, 1_000)), min_size=1), st.none() | times)
def test_a_steady_clock_never_goes_back_and_is_right_again_once_the_machine_has_caught_up(
    asked: list[tuple[datetime, int]], latest: datetime | None
) -> None:
    clock, since_boot, last = SteadyClock(lambda _until: latest), 0.0, latest or asked[0][0]
    for number, (machine, seconds) in enumerate(asked):
        since_boot += seconds
        with (
            mock.patch.object(SystemClock, "now", lambda _self, at=machine: at),
            mock.patch.object(SystemClock, "monotonic", lambda _self, at=since_boot: at),
        ):
            shown = clock.now()
        waited = timedelta(seconds=seconds if number else 0)
        assert shown == (machine if machine >= last else last + waited)
        assert clock.ahead == shown - machine
        last = shown
