"""`sitegraph` run for real: in this process, or as a command; without Prefect, or against a server of it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from io import BytesIO, TextIOWrapper
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from tests.fakes.exported_encoder import encoder_cache
from tests.fakes.prefect_server import REPO, PrefectServer, child_environment
from tests.fakes.tiny_model import write_tiny_model

if TYPE_CHECKING:
    from flows.run.resources import Resources

Rows = list[dict[str, Any]]
TABLES = ("documents", "nodes", "edges", "chunks")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitegraph:
    """The program with a copy of the exported encoder, pointed at a Prefect server or at none."""

    environment: Mapping[str, str]
    lends: bool = True
    """Whether runs in this process leave their parsers and vectors to the next."""

    def run(self, source: Path, index: Path, *, graph: str | None = None, **options: Any) -> dict[str, Any]:
        """Run a source in this process and give its report: as a flow, where there is a server."""
        with self._set_up():
            if self._server is None:
                from flows.start import run_source
                from runtime.settings import read_settings

                settings = read_settings(str(index), graph=graph)
                return run_source(str(source), settings, quiet=True, **{"due": False, **options})
            from flows.recrawl import index_source

            report: dict[str, Any] = index_source(
                source=str(source), index=str(index), graph=graph, quiet=True, **options
            )
            return report

    @contextmanager
    def opened(self, source: Path, index: Path, **options: Any) -> Iterator["Resources"]:
        """Open a run in this process, for others to come between its opening and its end."""
        from flows.run.opening import open_run
        from runtime.settings import read_settings

        with (
            self._set_up(),
            open_run(str(source), read_settings(str(index)), quiet=True, **options) as opened,
        ):
            yield opened

    def drop(self, name: str, index: Path) -> dict[str, Any]:
        """Drop a source in this process."""
        from flows.drop_source import drop_source
        from runtime.settings import read_settings

        with self._set_up():
            return drop_source(name, read_settings(str(index)))

    def export(
        self,
        index: Path,
        *,
        generation: int | None = None,
        source: str | None = None,
        stable: bool = True,
    ) -> dict[str, Rows]:
        """Return the export of every table, without what was only observed unless *stable* is false."""
        from flows.run.opening import open_existing
        from runtime.settings import read_settings
        from sitegraph.actions.export_records import rows

        with self._set_up():
            opened = open_existing(read_settings(index=str(index)))
            number = opened.current() if generation is None else generation
            try:
                return {
                    what: list(
                        rows(opened, what, generation=number, source=source, stable=stable, vectors=False)
                    )
                    for what in TABLES
                }
            finally:
                opened.close()

    def damage(self, index: Path, *, generation: int | None = None) -> tuple[tuple[str, str], ...]:
        """What `verify` finds at a generation, by default the current one."""
        from flows.run.damage import find_damage
        from flows.run.opening import open_existing
        from runtime.settings import read_settings

        with self._set_up():
            opened = open_existing(read_settings(index=str(index)))
            try:
                return find_damage(opened, opened.current() if generation is None else generation)
            finally:
                opened.close()

    def call(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a `sitegraph` command in this process, which saves the second that another takes to start."""
        from sitegraph.cli.app import run_app

        program = replace(self, environment={**self.environment, **environment})
        out, err = (TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        with (
            mock.patch.dict(os.environ, program.environment),
            program._set_up(),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            code = run_app(list(arguments))
        said = (stream.buffer.getvalue().decode() for stream in (out, err))  # type: ignore[attr-defined]
        return subprocess.CompletedProcess(arguments, code, *said)

    def command(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a `sitegraph` command in a process of its own."""
        with self.process(*arguments, **environment) as process:
            out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    @contextmanager
    def process(self, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
        """Start a command as the leader of a process group; it is gone after the block."""
        process = subprocess.Popen(
            ["env", "--default-signal=INT", sys.executable, "-m", "sitegraph.cli.app", *arguments],
            cwd=REPO,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        with process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)

    @property
    def _server(self) -> str | None:
        return self.environment.get("PREFECT_API_URL")

    @contextmanager
    def _set_up(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
            for name, value in self.environment.items():
                if name.startswith("SITEGRAPH_"):
                    patch.setenv(name, value)
            if self._server is None:
                patch.delenv("PREFECT_API_URL", raising=False)
                patch.setenv("PREFECT_HOME", self.environment["PREFECT_HOME"])
            else:
                stack.enter_context(_prefect(self._server, self.environment["PREFECT_HOME"]))
            if self.lends:
                from tests.fakes.lent_parts import lent_parts

                stack.enter_context(lent_parts())
            yield


@contextmanager
def _prefect(server: str, home: str) -> Iterator[None]:
    from prefect.settings import PREFECT_API_URL, PREFECT_HOME, PREFECT_LOGGING_LEVEL, temporary_settings

    _send_events_to(server)
    updates = {PREFECT_API_URL: server, PREFECT_HOME: home, PREFECT_LOGGING_LEVEL: "CRITICAL"}
    with temporary_settings(updates=updates):
        yield


_told: list[str] = []
"""The servers that events of this process went to, the last one last."""


def _send_events_to(url: str) -> None:
    """Have Prefect begin anew with what sends its events, which stays with the server it began with.

    A program has one server for life; tests of one process have several, one after the other.
    """
    from prefect.events.worker import EventsWorker

    if _told and _told[-1] != url:
        EventsWorker.drain_all(timeout=10)
    _told.append(url)


def sitegraph_on(server: PrefectServer, **settings: str) -> Sitegraph:
    """The program on a running server; *settings* are environment variables."""
    return Sitegraph(environment={**server.environment, **_cached(), **settings})


def sitegraph_here(home: Path | None = None, **settings: str) -> Sitegraph:
    """The program without a server; *home* is where Prefect would keep what it keeps."""
    kept = child_environment(PREFECT_HOME=str(home or Path(gettempdir(), "no-prefect")))
    return Sitegraph(environment={**kept, **_cached(), **settings})


def _cached() -> dict[str, str]:
    # Small sites: a second parser would cost more to start than it saves.
    return {
        "SITEGRAPH_CACHE": str(encoder_cache()),
        "SITEGRAPH_WORKERS": "1",
        "PREFECT_LOGGING_LEVEL": "CRITICAL",
    }


def report_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The report that `run --format json` printed."""
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def outcomes(report: dict[str, Any]) -> dict[str, int]:
    """The outcomes that occurred."""
    looked = ("scheduled", "fetched", "not_modified")
    counts = {name: n for name, n in report["documents"].items() if n and name not in looked}
    assert sum(counts.values()) == report["documents"]["scheduled"]
    return counts


def assert_equals_clean_rebuild(sitegraph: Sitegraph, source: Path, index: Path) -> dict[str, Rows]:
    """Hold that the incremental index exports what a new one would, and give that export."""
    clean = index.parent / "clean"
    sitegraph.run(source, clean)
    exported = sitegraph.export(index)
    assert exported == sitegraph.export(clean)
    assert sitegraph.damage(index) == ()
    return exported


@pytest.fixture(scope="session")
def sitegraph(tmp_path_factory: pytest.TempPathFactory) -> Sitegraph:
    """The program without Prefect."""
    return sitegraph_here(tmp_path_factory.mktemp("prefect"))


@pytest.fixture(scope="session")
def on_prefect(prefect_server: PrefectServer) -> Sitegraph:
    """The program on the session's server."""
    return sitegraph_on(prefect_server)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Sitegraph:
    """The program with the tiny model in its settings."""
    model = write_tiny_model(tmp_path_factory.mktemp("models") / "tiny")
    return sitegraph_here(tmp_path_factory.mktemp("prefect"), SITEGRAPH_MODEL=str(model))
