"""Where Prefect runs the tasks of a run, threads or workers of Dask or Ray, and how often it tries them."""

import errno
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from prefect.client.schemas.objects import State, TaskRun
from prefect.futures import PrefectFuture
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner
from prefect.tasks import Task

from flows.run.stage import SECONDS_BETWEEN_TRIES
from flows.run.values import TASKS_AT_ONCE
from runtime.settings import ADDRESS, SETTING, THREADS, check_task_runner, read_settings
from schemas.errors import SitegraphError, StoreUnavailable, TransientError
from schemas.settings import RunSettings

Runner = TaskRunner[PrefectFuture[Any]]

TASKS_PER_WORKER = 2
"""One waits for a site while the other parses."""

_ENGINES = ("dask", "distributed", "ray", "prefect_dask", "prefect_ray")

_UNREACHED = (ConnectionError, TimeoutError, socket.gaierror)
_UNREACHED_CODES = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN)


class ConfiguredTaskRunner(ThreadPoolTaskRunner[Any]):
    """Stands for the task runner that the settings name when a flow run begins."""

    def duplicate(self) -> "ConfiguredTaskRunner":
        """Return the runner of one flow run, for which Prefect asks before the flow can read its settings.

        What is wrong with them, the flow itself tells.
        """
        try:
            settings = read_settings()
            check_task_runner(settings)
            return cast("ConfiguredTaskRunner", open_task_runner(settings))
        except SitegraphError:
            return cast("ConfiguredTaskRunner", ThreadPoolTaskRunner(max_workers=TASKS_AT_ONCE))


def open_task_runner(settings: RunSettings) -> Runner:
    """Make the task runner that the settings name; a cluster starts, or is looked for, once it is needed."""
    if settings.task_runner == "dask":
        return cast("Runner", _dask(settings))
    if settings.task_runner == "ray":
        return cast("Runner", _ray(settings))
    return cast("Runner", ThreadPoolTaskRunner(max_workers=TASKS_AT_ONCE))


def _dask(settings: RunSettings) -> Any:
    from prefect_dask.task_runners import DaskTaskRunner

    logging.getLogger("distributed").setLevel(logging.ERROR)  # it tells each start and end of a worker
    if settings.task_runner_address:
        return DaskTaskRunner(address=settings.task_runner_address)
    cluster = {
        "n_workers": settings.task_runner_workers,
        "threads_per_worker": TASKS_PER_WORKER,
        "dashboard_address": None,
        "preload": ("flows.run.dask_worker",),
        "env": worker_environment(settings),
    }
    return DaskTaskRunner(cluster_kwargs=cluster)


def _ray(settings: RunSettings) -> Any:
    from prefect_ray.task_runners import RayTaskRunner

    if settings.task_runner_address:
        return RayTaskRunner(address=settings.task_runner_address)
    local = {
        "num_cpus": settings.task_runner_workers,
        "include_dashboard": False,
        "logging_level": logging.ERROR,
        "log_to_driver": False,
        "runtime_env": {"env_vars": worker_environment(settings)},
    }
    return RayTaskRunner(init_kwargs=local)


def worker_environment(settings: RunSettings) -> dict[str, str]:
    """What workers of this machine have otherwise: together as many threads of the encoder as a run has."""
    threads = max(1, settings.threads // settings.task_runner_workers)
    return {"SITEGRAPH_THREADS": str(threads)}


def runs_in_workers(settings: RunSettings) -> bool:
    """Whether stages run in other processes than the run's own."""
    return settings.task_runner != THREADS


@contextmanager
def told_failures(settings: RunSettings) -> Iterator[None]:
    """Say in one line that workers, or what hands them their work, are lost.

    Raises: StoreUnavailable: the block failed with an error of Dask or Ray.
    """
    try:
        yield
    except SitegraphError:
        raise
    except Exception as error:
        if not is_failure_of_engine(error, settings):
            raise
        where = settings.task_runner_address or "the cluster of this run"
        raise StoreUnavailable(
            f"{settings.task_runner} lost its workers or its scheduler ({type(error).__name__} at {where}); "
            f"check that they are running and have enough memory ({SETTING}, {ADDRESS}); "
            "run again to continue",
            subject=SETTING,
        ) from error


def is_failure_of_engine(error: BaseException, settings: RunSettings) -> bool:
    """Whether it is an error of Dask or Ray, or of the connection to them, and none of a stage."""
    if not runs_in_workers(settings):
        return False
    if isinstance(error, _UNREACHED):
        return True
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno in _UNREACHED_CODES  # else this machine's: a full disk, whoever writes to it
    modules = [kind.__module__ for kind in type(error).__mro__] + _raised_in(error)
    return any(module.partition(".")[0] in _ENGINES for module in modules)


def _raised_in(error: BaseException) -> list[str]:
    """The module whose code raised an error: Dask and Ray raise plain ones, too."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return [str(trace.tb_frame.f_globals.get("__name__", ""))] if trace is not None else []


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
