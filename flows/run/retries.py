"""How Prefect repeats a stage: as often as the engine of this process does, for the same errors."""

from typing import Any

from prefect.client.schemas.objects import State, TaskRun
from prefect.tasks import Task

from flows.run.stage import SECONDS_BETWEEN_TRIES
from schemas.errors import TransientError


def is_transient(_task: Task[..., Any], _run: TaskRun, state: State[Any]) -> bool:
    """Only TransientError is retried; a failed document is data, not a failed task."""
    try:
        state.result()
    except TransientError:
        return True
    except BaseException:  # noqa: BLE001 - a predicate answers, whatever the task raised
        return False
    return False


TRANSIENT: dict[str, Any] = {
    "retries": len(SECONDS_BETWEEN_TRIES),
    "retry_delay_seconds": list(SECONDS_BETWEEN_TRIES),
    "retry_jitter_factor": 0.5,
    "retry_condition_fn": is_transient,
}
"""Task options of every stage that is retried."""
