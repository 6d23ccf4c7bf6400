"""Dask as people run it: a scheduler and workers, each started by its own command."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from tests.fakes.prefect_server import REPO, free_port

DASK = {"SITEGRAPH_TASK_RUNNER": "dask", "SITEGRAPH_TASK_RUNNER_WORKERS": "2"}
"""Settings of a run that starts two workers of its own."""

WORKER = "multiprocessing.spawn"
"""In the command lines of such workers, which are children of the run."""


@contextmanager
def cluster(
    environment: Mapping[str, str], *, workers: int = 2
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start a scheduler and workers as commands; the address, and the scheduler's process."""
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1"]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nworkers", str(workers)]
    options: dict[str, Any] = {"cwd": REPO, "env": environment, "stderr": subprocess.DEVNULL}
    with ExitStack() as stack:

        def started(*command: str) -> subprocess.Popen[bytes]:
            process = stack.enter_context(subprocess.Popen([*command, "--no-dashboard"], **options))
            stack.callback(process.kill)
            return process

        head = started(*scheduler, "--port", str(port))
        started(*worker, "--nthreads", "2")
        yield address, head
