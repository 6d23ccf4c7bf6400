"""A stage of a run: a step with a name, and why it is done. Engines say where and how often it is run."""

from collections.abc import Callable, Mapping
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

from schemas.causes import caused_by
from schemas.cost import Cause

P = ParamSpec("P")
R = TypeVar("R")

SECONDS_BETWEEN_TRIES = (2.0, 20.0)
"""Before the second and the third try of a stage that talks to a network or a store."""


class Stage(Generic[P, R]):
    """Runs its step when it is called.

    `run_name` names a run of it by the step's parameters; `is_retried` says that TransientError may pass.
    """

    def __init__(
        self,
        step: Callable[P, R],
        *,
        cause: Cause,
        name: str,
        run_name: Callable[[Mapping[str, Any]], str],
        is_retried: bool,
    ) -> None:
        update_wrapper(self, step)
        self.step, self.cause, self.name, self.run_name, self.is_retried = (
            step,
            cause,
            name,
            run_name,
            is_retried,
        )

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the step."""
        with caused_by(self.cause):
            return self.step(*args, **kwargs)


def stage(
    *, cause: Cause, name: str, run_name: Callable[[Mapping[str, Any]], str], is_retried: bool = False
) -> Callable[[Callable[P, R]], Stage[P, R]]:
    """Make a step a stage."""

    def made(step: Callable[P, R]) -> Stage[P, R]:
        return Stage(step, cause=cause, name=name, run_name=run_name, is_retried=is_retried)

    return made
