"""Which task failures are worth another try."""

from typing import TYPE_CHECKING, Any

from schemas.errors import TransientError

if TYPE_CHECKING:
    from prefect.client.schemas.objects import State, TaskRun
    from prefect.tasks import Task


def is_transient(_task: "Task[..., Any]", _run: "TaskRun", state: "State[Any]") -> bool:
    """Only TransientError is retried; a failed document is data, not a failed task."""
    try:
        state.result()
    except TransientError:
        return True
    except BaseException:  # noqa: BLE001 - a predicate answers, whatever the task raised
        return False
    return False


TRANSIENT: dict[str, Any] = {
    "retries": 2,
    "retry_delay_seconds": [2, 20],
    "retry_jitter_factor": 0.5,
    "retry_condition_fn": is_transient,
}
"""Task options shared by every step that talks to a network or a store."""
