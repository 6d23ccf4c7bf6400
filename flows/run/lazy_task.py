"""Steps as Prefect tasks, each made when it is first run: a run that only looks never imports Prefect."""

from collections.abc import Callable
from functools import cached_property, update_wrapper, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from schemas.causes import caused_by
from schemas.cost import Cause

if TYPE_CHECKING:
    from prefect import Task

P = ParamSpec("P")
R = TypeVar("R")


class _Task:
    def __init__(self, step: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, step)
        self._step, self._options = step, options

    @cached_property
    def _task(self) -> "Task[..., Any]":
        from prefect import task
        from prefect.cache_policies import NO_CACHE

        # A stage has effects: it is never skipped because another was given the same.
        return task(cache_policy=NO_CACHE, persist_result=False, **self._options)(self._step)

    @property
    def fn(self) -> Callable[..., Any]:
        """The step itself, as a Prefect task names it too."""
        return self._step

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._task(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._task, name)


def task(*, cause: Cause, **options: Any) -> "Callable[[Callable[P, R]], Task[P, R]]":
    """Make a step, whose work is done for *cause*, a task, with the options of `prefect.task`."""

    def wrap(step: Callable[P, R]) -> "Task[P, R]":
        @wraps(step)
        def caused(*args: P.args, **kwargs: P.kwargs) -> R:
            with caused_by(cause):
                return step(*args, **kwargs)

        return cast("Task[P, R]", _Task(caused, options))

    return wrap
