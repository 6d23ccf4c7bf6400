"""A stage of a run: a step with a name and a cause, what its task runs are called, and how long it took."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from typing import Generic, ParamSpec, TypeVar

from flows.run.account import stage_span
from runtime.clock import SystemClock
from runtime.cost import METER
from schemas.cost import Cause, caused_by

P = ParamSpec("P")
R = TypeVar("R")

SECONDS_BETWEEN_TRIES = (2.0, 20.0)
"""Before the second and the third try of a stage that talks to a network or a store."""


class Stage(Generic[P, R]):
    """Runs its step when it is called.

    `run_name` names a run of it, a form for the step's parameters; `is_retried` says that TransientError may
    pass.
    """

    def __init__(
        self, step: Callable[P, R], *, cause: Cause, name: str, run_name: str, is_retried: bool
    ) -> None:
        update_wrapper(self, step)
        self.step, self.cause, self.name = step, cause, name
        self.run_name, self.is_retried = run_name, is_retried

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the step."""
        with caused_by(self.cause):
            return self.step(*args, **kwargs)


def stage(
    *, cause: Cause, name: str, run_name: str, is_retried: bool = False
) -> Callable[[Callable[P, R]], Stage[P, R]]:
    """Make a step a stage."""

    def made(step: Callable[P, R]) -> Stage[P, R]:
        return Stage(step, cause=cause, name=name, run_name=run_name, is_retried=is_retried)

    return made


class Stages:
    """Seconds by stage, in the order in which they began; together they are the run's.

    `costs` are those of the process before the run.
    """

    def __init__(self, clock: SystemClock) -> None:
        self._clock = clock
        self.costs = METER.begin()
        self.seconds: dict[str, float] = {}

    @contextmanager
    def timed(self, stage: str, *, since: float | None = None) -> Iterator[None]:
        """Add the block's time to a stage, and make a span of it.

        *since* is when the stage began, in the clock's seconds, where that is before the block. The block may
        not be one of several that wait side by side.
        """
        start = self._clock.monotonic() if since is None else since
        try:
            with stage_span(stage):
                yield
        finally:
            self.add(stage, self._clock.monotonic() - start)

    def add(self, stage: str, seconds: float) -> None:
        """Add seconds to a stage."""
        self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds

    def move(self, seconds: float, stage: str, to: str) -> None:
        """Let seconds of a stage in which it only waited for another be the other's."""
        self.add(stage, -seconds)
        self.add(to, seconds)
