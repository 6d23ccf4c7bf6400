"""Which task runner a run gets, and what is said when its workers are lost."""

import concurrent.futures
import errno
import os
import socket
from typing import Any

import distributed
import pytest
from distributed.scheduler import KilledWorker
from prefect.task_runners import ThreadPoolTaskRunner
from prefect_dask import DaskTaskRunner

from flows.run.task_runners import ConfiguredTaskRunner, open_task_runner, told_failures, worker_environment
from schemas.errors import GuardRefused, StoreUnavailable
from schemas.settings import Settings

DASK = Settings(task_runner="dask", task_runner_workers=3)


def test_the_runner_is_chosen_when_a_flow_run_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(ConfiguredTaskRunner().duplicate()) is ThreadPoolTaskRunner
    monkeypatch.setenv("SITEGRAPH_TASK_RUNNER", "dask")

    assert isinstance(ConfiguredTaskRunner().duplicate(), DaskTaskRunner)


def test_settings_that_are_wrong_are_for_the_flow_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITEGRAPH_TASK_RUNNER", "slurm")

    assert isinstance(ConfiguredTaskRunner().duplicate(), ThreadPoolTaskRunner)


def test_a_cluster_of_ones_own_has_as_many_workers_as_the_settings_say() -> None:
    runner = open_task_runner(DASK)

    assert isinstance(runner, DaskTaskRunner)
    assert runner.cluster_kwargs["n_workers"] == 3


def test_workers_of_one_machine_share_the_threads_of_the_encoder() -> None:
    assert worker_environment(Settings(threads=8, task_runner_workers=3)) == {"SITEGRAPH_THREADS": "2"}
    assert worker_environment(Settings(threads=2, task_runner_workers=4)) == {"SITEGRAPH_THREADS": "1"}


@pytest.mark.parametrize(
    "error",
    [
        distributed.client.FutureCancelledError("key", "lost"),
        distributed.comm.core.CommClosedError("in <TCP>: stream closed"),
        ConnectionError("ray client connection timeout"),
        TimeoutError("timed out after 30 s."),
        socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
        OSError(errno.EHOSTUNREACH, os.strerror(errno.EHOSTUNREACH)),
        KilledWorker("key", None, 4),
    ],
)
def test_lost_workers_are_told_in_one_line_that_says_what_to_do(error: Exception) -> None:
    with (
        pytest.raises(StoreUnavailable, match=r"SITEGRAPH_TASK_RUNNER: .*run again to continue"),
        told_failures(DASK),
    ):
        raise error


def raise_in_dask(error: Exception) -> None:
    """Raise an error from code of Dask."""
    code: dict[str, Any] = {"__name__": "distributed.comm.core"}
    exec("def connect(error):\n    raise error", code)
    code["connect"](error)


@pytest.mark.parametrize("error", [RuntimeError("Nanny failed to start."), OSError("Timed out connecting")])
def test_a_plain_error_that_dask_raises_is_one_of_lost_workers(error: Exception) -> None:
    with pytest.raises(StoreUnavailable, match=type(error).__name__), told_failures(DASK):
        raise_in_dask(error)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EMFILE])
def test_what_the_machine_of_the_run_lacks_is_no_failure_of_workers(number: int) -> None:
    error = OSError(number, os.strerror(number))

    with pytest.raises(OSError, match=os.strerror(number)), told_failures(DASK):
        raise error
    with pytest.raises(OSError, match=os.strerror(number)), told_failures(DASK):
        raise_in_dask(error)


def test_errors_of_stages_pass_as_they_are() -> None:
    with pytest.raises(GuardRefused), told_failures(DASK):
        raise GuardRefused("too much would go")
    with pytest.raises(ZeroDivisionError), told_failures(DASK):
        raise ZeroDivisionError
    with pytest.raises(concurrent.futures.CancelledError), told_failures(Settings()):
        raise concurrent.futures.CancelledError
