"""Seconds by stage: together they are the run's, and waiting for the encoder is embedding."""

from flows.run.stage import Stages
from tests.fakes.plain_run import SetClock


class Ticking(SetClock):
    """A clock that only `spend` moves."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0

    def spend(self, seconds: float) -> None:
        self.seconds += seconds

    def monotonic(self) -> float:
        return self.seconds


def test_what_a_stage_waits_for_the_encoder_is_embedding() -> None:
    clock = Ticking()
    stages = Stages(clock)

    with stages.timed("link"):
        clock.spend(5.0)
    stages.move(3.0, "link", "embed")
    with stages.timed("embed"):
        clock.spend(4.0)

    assert stages.seconds == {"link": 2.0, "embed": 7.0}
    assert sum(stages.seconds.values()) == clock.seconds


def test_a_stage_that_fails_has_taken_its_time_all_the_same() -> None:
    clock = Ticking()
    stages = Stages(clock)

    try:
        with stages.timed("write"):
            clock.spend(2.0)
            raise OSError("the disk is full")
    except OSError:
        pass

    assert stages.seconds == {"write": 2.0}


def test_a_stage_that_began_before_its_block_has_that_time_too() -> None:
    clock = Ticking()
    stages, since = Stages(clock), clock.monotonic()
    clock.spend(3.0)

    with stages.timed("start", since=since):
        clock.spend(1.0)

    assert stages.seconds == {"start": 4.0}
