"""The runs under way in this process, so that tasks can be given ids instead of objects."""

from flows.wiring import Pipeline

_ACTIVE: dict[str, Pipeline] = {}


def activate(pipeline: Pipeline) -> None:
    """Make a run's parts available to its tasks."""
    _ACTIVE[pipeline.run_id] = pipeline


def deactivate(pipeline: Pipeline) -> None:
    """Forget a run."""
    _ACTIVE.pop(pipeline.run_id, None)


def active(run_id: str) -> Pipeline:
    """The parts of a run under way in this process."""
    return _ACTIVE[run_id]
