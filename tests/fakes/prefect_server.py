"""A real Prefect server on a free loopback port, with a home of its own, and process workers on it."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import pytest

T = TypeVar("T")

REPO = Path(__file__).resolve().parents[2]
WITH_PARENT = ("env", "--default-signal=INT", "setpriv", "--pdeathsig", "INT")
"""Before a command that SIGINT ends: it gets one when the tests are killed.

A shell starts background jobs with SIGINT ignored and children inherit that; a worker that ignores it cannot
be stopped in order, since it turns SIGTERM into SIGINT.
"""

START_SECONDS = 240.0
"""By the clock: on a busy machine making its database takes minutes."""

FINAL_STATES = ("COMPLETED", "FAILED", "CANCELLED", "CRASHED")

SETTINGS = {
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_UI_ENABLED": "false",
    "PREFECT_SERVER_LOGGING_LEVEL": "WARNING",
    "PREFECT_LOGGING_LEVEL": "INFO",
    "PREFECT_CLI_COLORS": "false",
    # The defaults write one row at a time and let records lag half a minute behind on two cores.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "2",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_READ_BATCH_SIZE": "200",
    "PREFECT_WORKER_QUERY_SECONDS": "1",
    "PREFECT_WORKER_PREFETCH_SECONDS": "1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowRun:
    """A flow run in its final state."""

    id: str
    state_type: str
    message: str
    state_name: str = ""
    name: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefectServer:
    """A running server; `environment` points any child process at it."""

    url: str
    environment: Mapping[str, str]

    def cli(self, *arguments: str, **environment: str) -> str:
        """Run `prefect` against this server and give its stdout; a failing command is an error."""
        done = subprocess.run(
            [sys.executable, "-m", "prefect", "--no-prompt", *arguments],
            cwd=REPO,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"prefect {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def call(self, path: str, body: Any = None) -> Any:
        """GET *path* of the API, or POST *body* to it, and give the JSON answer.

        A server on SQLite answers 503 while its database is locked; that is waited out, as is one
        that is too busy to answer.
        """
        return poll(lambda: self._try(path, body), timeout=300, what=f"an answer to {path}")[0]

    def _try(self, path: str, body: Any) -> tuple[Any] | None:
        request = urllib.request.Request(
            f"{self.url}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return (json.load(response),)
        except urllib.error.HTTPError as error:
            if error.code == 503:
                return None
            raise AssertionError(f"{path}: {error.code} {error.read().decode(errors='replace')}") from error
        except TimeoutError:
            # The machine is busy with other tests; who asks again after a POST carries an idempotency key.
            return None

    def deploy(self, prefect_file: Path, **environment: str) -> None:
        """Deploy all entries of a prefect.yaml; *environment* fills its placeholders."""
        self.cli("deploy", "--prefect-file", str(prefect_file), "--all", **environment)

    def start(self, deployment: str, **parameters: Any) -> str:
        """Ask for a run of `flow-name/deployment-name` and give its id."""
        found = self.call(f"/deployments/name/{deployment}")
        # With a key, asking again after a lost answer makes no second run.
        wish = {"parameters": parameters, "idempotency_key": uuid4().hex}
        run = self.call(f"/deployments/{found['id']}/create_flow_run", wish)
        return str(run["id"])

    def wait(self, flow_run_id: str, *, timeout: float = 400) -> FlowRun:
        """Wait for the final state of a flow run."""

        def final() -> FlowRun | None:
            run = self.call(f"/flow_runs/{flow_run_id}")
            state = run["state"] or {}
            if state.get("type") not in FINAL_STATES:
                return None
            return FlowRun(
                id=flow_run_id,
                state_type=state["type"],
                message=state.get("message") or "",
                state_name=state["name"],
                name=run["name"],
                tags=tuple(run["tags"]),
            )

        return poll(final, timeout=timeout, what=f"flow run {flow_run_id} to end")

    def artifacts(self, flow_run_id: str) -> dict[str, Any]:
        """Data of a flow run's artifacts by key."""
        wanted = {"artifacts": {"flow_run_id": {"any_": [flow_run_id]}, "key": {"exists_": True}}}
        return {found["key"]: found["data"] for found in self.call("/artifacts/filter", wanted)}

    def task_runs(self, flow_run_id: str) -> list[dict[str, Any]]:
        """The task runs of a flow run, in the order in which they began."""
        wanted = {"task_runs": {"flow_run_id": {"any_": [flow_run_id]}}, "sort": "EXPECTED_START_TIME_ASC"}
        found: list[dict[str, Any]] = self.call("/task_runs/filter", wanted)
        return found

    def logs(self, flow_run_id: str) -> str:
        """The log lines of a flow run, for the message of a failing test."""
        wanted = {"logs": {"flow_run_id": {"any_": [flow_run_id]}}, "sort": "TIMESTAMP_ASC"}
        found = self.call("/logs/filter", wanted)
        return "\n".join(line["message"] for line in found)


@pytest.fixture(scope="session")
def prefect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrefectServer]:
    """One server for the whole session, all of its workers, on SQLite in a folder that goes away."""
    from tests.fakes.shared_server import shared_server

    base = tmp_path_factory.getbasetemp()
    # Each worker of pytest-xdist has a folder of its own in that of the session.
    with shared_server((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "prefect") as server:
        yield server


@contextmanager
def running_server(home: Path, **settings: str) -> Iterator[PrefectServer]:
    """Start a server that keeps everything under *home*, its log in `server.log`, and stop it by its pid.

    *settings* are environment variables of Prefect; by default it keeps its runs in SQLite.
    """
    port = free_port()
    url = f"http://127.0.0.1:{port}/api"
    environment = server_environment(home, url, **settings)
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    log = home / "server.log"
    # Its folder goes with it: nothing is won by the seconds in which it would end in order.
    with running_process(command, environment=environment, log=log, grace=0) as process:
        server = PrefectServer(url=url, environment=environment)
        poll(lambda: _ready(server, process, log), timeout=START_SECONDS, what="the Prefect server")
        yield server


@pytest.fixture
def process_worker(prefect_server: PrefectServer, tmp_path: Path) -> Iterator[Callable[[str], None]]:
    """Start workers with `process_worker(pool)`; they end with the test."""
    with ExitStack() as workers:

        def start(pool: str) -> None:
            log = tmp_path / f"worker-{pool}.log"
            workers.enter_context(running_worker(prefect_server, pool, log=log))

        yield start


@contextmanager
def running_worker(
    server: PrefectServer, pool: str, *, log: Path, limit: int | None = None, **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process worker on *pool*, which is made if it is not there; it takes *limit* runs at a time."""
    server.cli("work-pool", "create", pool, "--type", "process", "--overwrite")
    command = [sys.executable, "-m", "prefect", "worker", "start", "--pool", pool, "--type", "process"]
    command += [] if limit is None else ["--limit", str(limit)]
    with running_process(command, environment={**server.environment, **environment}, log=log) as process:
        yield process


@contextmanager
def running_process(
    command: list[str], *, environment: Mapping[str, str], log: Path, grace: float = 20
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process that ends by SIGINT, and *grace* seconds later by SIGKILL of the group that it leads."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*WITH_PARENT, *command],
            cwd=REPO,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        stop(process, grace=grace)


def stop(process: subprocess.Popen[bytes], *, grace: float) -> None:
    """End a process started by `running_process`, and whatever it has left running."""
    process.send_signal(signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=grace)
    with suppress(ProcessLookupError):
        # It leads a session of its own, so the group holds its children and nobody else's.
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=120)


def server_environment(home: Path, url: str, **settings: str) -> dict[str, str]:
    """What points a child process at the server on *url*, which keeps everything under *home*."""
    return child_environment(PREFECT_HOME=str(home), PREFECT_API_URL=url, **SETTINGS, **settings)


def child_environment(**settings: str) -> dict[str, str]:
    """Our environment without anybody's Prefect settings, and with these."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    return {**kept, "PYTHONUNBUFFERED": "1", **settings}


def free_port() -> int:
    """A port of the loopback interface that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def poll(attempt: Callable[[], T | None], *, timeout: float, what: str, interval: float = 0.3) -> T:
    """Call *attempt* until it gives something; AssertionError after *timeout* seconds."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        found = attempt()
        if found is not None:
            return found
        time.sleep(interval)
    raise AssertionError(f"waited {timeout:.0f} s for {what}")


def _ready(server: PrefectServer, process: subprocess.Popen[bytes], log: Path) -> bool | None:
    assert process.poll() is None, log.read_text(errors="replace")[-2000:]
    try:
        with urllib.request.urlopen(f"{server.url}/ready", timeout=120):
            return True
    except OSError:
        return None
