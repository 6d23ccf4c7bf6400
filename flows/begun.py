"""Handing a run that this process has begun over to the flow that goes on with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from flows.run.resources import Resources
from flows.run.stages import Stages

_BEGUN: ContextVar["BegunRun | None"] = ContextVar("begun_run", default=None)


@dataclass(frozen=True, slots=True)
class BegunRun:
    """A run that is open already, how long its stages have taken so far, and since when none is timed."""

    resources: Resources
    stages: Stages
    since: float


@contextmanager
def handed_over(begun: BegunRun) -> Iterator[None]:
    """Have the flow that is called in the block go on with a run that is open already."""
    token = _BEGUN.set(begun)
    try:
        yield
    finally:
        _BEGUN.reset(token)


def take_over() -> BegunRun | None:
    """The run to go on with, if one was handed over."""
    return _BEGUN.get()
