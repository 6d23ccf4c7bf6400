"""The runs under way in this process, so that tasks can be given ids instead of objects."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from flows.run.pipeline import Pipeline
from flows.run.stages import Stages

_ACTIVE: dict[str, Pipeline] = {}
_HANDED_OVER: list["BegunRun"] = []


@dataclass(frozen=True, slots=True)
class BegunRun:
    """A run that is open already, how long its stages have taken so far, and since when none is timed."""

    pipeline: Pipeline
    stages: Stages
    since: float


def activate(pipeline: Pipeline) -> None:
    """Make a run's parts available to its tasks."""
    _ACTIVE[pipeline.run_id] = pipeline


def deactivate(pipeline: Pipeline) -> None:
    """Forget a run."""
    _ACTIVE.pop(pipeline.run_id, None)


def active(run_id: str) -> Pipeline:
    """The parts of a run under way in this process."""
    return _ACTIVE[run_id]


@contextmanager
def handed_over(begun: BegunRun) -> Iterator[None]:
    """Have the flow that is called in the block go on with a run that is open already."""
    _HANDED_OVER.append(begun)
    try:
        yield
    finally:
        _HANDED_OVER.remove(begun)


def take_over() -> BegunRun | None:
    """The run to go on with, if one was handed over."""
    return _HANDED_OVER[-1] if _HANDED_OVER else None
