"""`sitegraph serve` as the processes it is: where it listens, whom it answers, how it ends."""

import http.client
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from uvicorn import Config, Server

from retrieval.live import LiveRetriever
from retrieval.retriever import RetrievalResult
from schemas.errors import ConfigError
from schemas.settings import Settings
from sitegraph.cli.app import run_app
from sitegraph.service.guard import RequestLimits
from sitegraph.service.running import bind
from sitegraph.service.worker import ServeOptions, build_service
from tests.fakes.next_generation import publish_next
from tests.fakes.running_service import running
from tests.fakes.small_index import page

REPO = Path(__file__).parents[4]
LIGHT = """
import sys
import sitegraph.service.running, sitegraph.service.worker
from sitegraph.cli.app import build_commands
build_commands()
heavy = {"prefect", "torch", "transformers", "sentence_transformers", "pymupdf", "lxml", "trafilatura",
         "ingest", "lancedb", "onnxruntime", "sqlalchemy"}
print(*sorted(heavy & set(sys.modules)))
"""


def get(port: int, path: str, **headers: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def until(holds: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Whether something comes true in time."""
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return holds()


def children(process: subprocess.Popen[str]) -> set[int]:
    """Processes that it started and that run."""
    tasks = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return {int(pid) for pid in tasks.read_text().split()}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--host", "0.0.0.0"], "SITEGRAPH_SERVE_TOKEN: must be set"),
        (["--host", "no.such.host.invalid"], "no.such.host.invalid:8000: cannot listen there"),
        (["--index", "nowhere"], "not an index"),
    ],
)
def test_what_cannot_be_served_is_exit_code_2(
    folder: Path, options: list[str], words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run_app(["serve", "--index", str(folder), *options]) == 2
    assert words in capsys.readouterr().err


def test_a_port_that_is_taken_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ConfigError, match="cannot listen there"):
            bind("127.0.0.1", taken.getsockname()[1])


def test_a_worker_starts_without_what_only_building_takes() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIGHT], cwd=REPO, capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout.strip() == ""


def ask(port: int) -> tuple[int, str | None, float]:
    """Status of an answer, when to come again, and the seconds that it took."""
    connection, began = http.client.HTTPConnection("127.0.0.1", port, timeout=300), time.monotonic()
    body = json.dumps({"query": "how long are records kept"})
    connection.request("POST", "/retrieve", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status, response.headers["Retry-After"], time.monotonic() - began


def test_under_more_clients_than_it_can_serve_what_is_admitted_is_answered_and_the_rest_told_at_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    walk = LiveRetriever.walk_over

    def slow(*given: Any) -> RetrievalResult:
        time.sleep(0.5)
        return walk(*given)

    monkeypatch.setattr(LiveRetriever, "walk_over", slow)
    limits = RequestLimits(working=1, seconds=6.0)
    options = ServeOptions(settings=Settings(index=str(folder)), token=None, hosts=None, limits=limits)
    answers, ended = list[tuple[int, str | None, float]](), threading.Event()

    def ask_on(port: int) -> None:
        while not ended.is_set():
            answers.append(ask(port))
            if answers[-1][0] != 200:
                ended.wait(1.0)

    with bind("127.0.0.1", 0) as bound, served(options, bound) as port:
        for _ in range(4):
            ask(port)
        clients = [threading.Thread(target=ask_on, args=(port,)) for _ in range(24)]
        for one in clients:
            one.start()
        time.sleep(8.0)
        ended.set()
        for one in clients:
            one.join()
    good = sum(status == 200 for status, _, _ in answers)
    away = sorted(seconds for status, again, seconds in answers if (status, again) == (503, "2"))
    assert good >= 4
    assert len(away) > good
    assert len(answers) - good - len(away) <= 1  # 504: too late, for nothing
    assert statistics.median(away) < 1.0


@contextmanager
def served(options: ServeOptions, bound: socket.socket) -> Iterator[int]:
    """The port of a worker in this process."""
    server = Server(Config(build_service(options), lifespan="on", log_config=None, access_log=False))
    worker = threading.Thread(target=lambda: server.run(sockets=[bound]))
    worker.start()
    try:
        yield bound.getsockname()[1]
    finally:
        server.should_exit = True
        worker.join()


@pytest.mark.long
def test_two_workers_follow_the_index_and_end_within_ten_seconds(copy: Path) -> None:
    with running(copy, "--workers", "2") as (process, port):
        assert get(port, "/readyz")[1]["generation"] == 1
        publish_next(copy, [page("new", {"New page": "Only this."})])
        assert {get(port, "/readyz")[1]["generation"] for _ in range(8)} == {2}
        started = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=120) == 0
        assert time.monotonic() - started < 60


@pytest.mark.long
def test_a_token_opens_what_is_closed_without_one(copy: Path) -> None:
    with running(copy, "--workers", "1", "--host", "0.0.0.0", SITEGRAPH_SERVE_TOKEN="long-secret") as (
        _,
        port,
    ):
        assert get(port, "/readyz")[0] == 200
        assert get(port, "/openapi.json")[0] == 401
        assert get(port, "/openapi.json", Authorization="Bearer long-secret")[0] == 200


@pytest.mark.long
def test_workers_end_when_what_started_them_is_killed(copy: Path) -> None:
    with running(copy, "--workers", "1") as (process, port):
        get(port, "/readyz")
        workers = children(process)
        assert workers
        process.kill()
        process.wait()
        assert until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


@pytest.mark.long
def test_a_worker_that_dies_is_replaced(copy: Path) -> None:
    with running(copy, "--workers", "1") as (process, port):
        get(port, "/readyz")
        before = children(process)
        os.kill(max(before), signal.SIGKILL)
        assert until(lambda: bool(children(process) - before))
        assert get(port, "/readyz")[0] == 200
