"""Schedules fire: source files are deployed, and a run that nobody asked for completes."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.exported_encoder import encoder_cache
from tests.fakes.prefect_server import PrefectServer, poll, running_server, running_worker
from tests.fakes.sitegraph_runs import sitegraph_on

pytestmark = [pytest.mark.system, pytest.mark.server, pytest.mark.timeout(1500)]

SCHEDULES = {"handbook": "15 2 * * *", "manual": "3s", "wiki": "FREQ=WEEKLY;BYDAY=MO;BYHOUR=3"}
PATIENCE_SECONDS = 600


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=[pytest.mark.postgres, pytest.mark.long])])
def database(request: pytest.FixtureRequest) -> dict[str, str]:
    """Settings of a server that keeps its runs in either database."""
    if request.param == "sqlite":
        return {}
    url = str(request.getfixturevalue("postgres_url")).replace("postgresql://", "postgresql+asyncpg://", 1)
    return {"PREFECT_SERVER_DATABASE_CONNECTION_URL": url}


@pytest.fixture
def server(database: dict[str, str], tmp_path: Path) -> Iterator[PrefectServer]:
    """A server for this test alone, so that every line of its log is about it."""
    home = tmp_path / "prefect"
    home.mkdir()
    settings = {**database, "PREFECT_SERVER_DEPLOYMENTS_CONCURRENCY_SLOT_WAIT_SECONDS": "1"}
    with running_server(home, **settings) as running:
        yield running


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A folder of three source files; one of them is to run every few seconds."""
    return write_sources(tmp_path / "sources", SCHEDULES)


def write_sources(folder: Path, schedules: Mapping[str, str]) -> Path:
    """Write source files with their schedules, each with a document."""
    folder.mkdir()
    for name, schedule in schedules.items():
        (folder / name).mkdir()
        (folder / name / "lease.md").write_text(
            f"# Leases of the {name}\n\nWhoever holds a lease of the {name} may write; others wait.\n"
        )
        (folder / f"{name}.yaml").write_text(
            f"name: {name}\nkind: files\nroots: [{name}]\nschedule: {schedule}\n"
        )
    return folder


@pytest.mark.dear("a Prefect server and a worker of its own")
def test_the_schedule_of_a_source_file_brings_a_run_that_completes(
    server: PrefectServer, sources: Path, tmp_path: Path
) -> None:
    environment = {"SITEGRAPH_CACHE": str(encoder_cache()), "SITEGRAPH_WORKERS": "1"}
    call = [
        "deploy",
        str(sources),
        "--home",
        str(tmp_path),
        "--index",
        str(tmp_path / "index"),
        "--no-alarms",
    ]

    with running_worker(server, "sitegraph", log=tmp_path / "worker.log", **environment):
        done = sitegraph_on(server).call(*call)
        assert done.returncode == 0, done.stderr
        completed = poll(
            lambda: next((run for run in _scheduled_runs(server) if _state(run) == "COMPLETED"), None),
            timeout=PATIENCE_SECONDS,
            what="a scheduled run to complete",
        )
        ahead_of = poll(
            lambda: found if len(found := _scheduled_deployments(server)) == 3 else None,
            timeout=PATIENCE_SECONDS,
            what="runs of each source to lie ahead",
        )
        ahead = server.cli("flow-run", "ls", "--state", "SCHEDULED", COLUMNS="200")
        # A schedule that fires more often than runs end: whoever asks for a run finds one under way.
        asked = server.wait(server.start("index-source/manual"), timeout=PATIENCE_SECONDS)
        ended = poll(
            lambda: next((run for run in _scheduled_runs(server) if _state(run) == "CANCELLED"), None),
            timeout=PATIENCE_SECONDS,
            what="a run that met another to be ended by it",
        )

    assert (asked.state_type, asked.name) == ("COMPLETED", "manual"), asked
    assert ended["state"]["message"] == "another run was under way at its time"
    assert completed["name"] == "manual"
    assert len(ahead_of) == len(SCHEDULES)
    assert (tmp_path / "index" / "CURRENT").read_text().startswith("1\n"), server.logs(completed["id"])
    assert "index-source" in ahead, "the command by which the manual has people see that schedules fire"
    assert {_state(run) for run in _scheduled_runs(server)}.isdisjoint({"FAILED", "CRASHED"})
    log = (tmp_path / "prefect" / "server.log").read_text(errors="replace")
    # On a busy machine Prefect's own heartbeats may find its SQLite file locked, and come again.
    assert [line for line in log.splitlines() if "ERROR" in line and "schedule" in line.lower()] == []


EVEN, ODD = "handbook", "wiki"
"""Names of which one has the first of two minutes and the other the second."""


@pytest.mark.long
def test_sources_of_one_cron_with_jitter_run_at_times_of_their_own_that_a_second_deploy_keeps(
    server: PrefectServer, tmp_path: Path
) -> None:
    folder = write_sources(
        tmp_path / "sources", dict.fromkeys((EVEN, ODD), '{cron: "*/2 * * * *", jitter: 1m}')
    )
    environment = {"SITEGRAPH_CACHE": str(encoder_cache()), "SITEGRAPH_WORKERS": "1"}
    call = ["deploy", str(folder), "--home", str(tmp_path), "--index", str(tmp_path / "index")]

    with running_worker(server, "sitegraph", log=tmp_path / "worker.log", **environment):
        first = sitegraph_on(server).call(*call, "--no-alarms")
        assert first.returncode == 0, first.stderr
        ahead = poll(lambda: _ahead(server), timeout=PATIENCE_SECONDS, what="runs to lie ahead")
        second = sitegraph_on(server).call(*call, "--no-alarms")
        ran = poll(lambda: _ran(server), timeout=PATIENCE_SECONDS, what="a run of each source to complete")
        kept = _ahead(server) or {}

    assert "moved from */2 * * * *" in first.stdout
    assert second.stdout.count("unchanged") == 2, second.stdout
    assert {name: {time.minute % 2 for time in times} for name, times in ahead.items()} == {
        EVEN: {0},
        ODD: {1},
    }
    for name, times in ahead.items():
        assert max(times) in kept[name], "what lay ahead before the second deploy still does"
    for name, run in ran.items():
        planned, began = (_time(run[key]) for key in ("expected_start_time", "start_time"))
        assert planned in ahead[name]
        assert began >= planned
        assert (tmp_path / "index" / "CURRENT").exists()


def _ahead(server: PrefectServer) -> dict[str, set[datetime]] | None:
    """When the runs of each source were planned to begin, once there are some of both."""
    names = {one["id"]: one["name"] for one in server.call("/deployments/filter", {})}
    found: dict[str, set[datetime]] = {}
    for run in _scheduled_runs(server):
        found.setdefault(names[run["deployment_id"]], set()).add(_time(run["expected_start_time"]))
    return found if {EVEN, ODD} <= found.keys() else None


def _ran(server: PrefectServer) -> dict[str, dict[str, Any]] | None:
    """The first run of each source that completed, once there is one of both."""
    found = {run["name"]: run for run in reversed(_scheduled_runs(server)) if _state(run) == "COMPLETED"}
    return found if {EVEN, ODD} <= found.keys() else None


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _scheduled_deployments(server: PrefectServer) -> set[str]:
    """The deployments of which a run lies ahead, or has been."""
    return {run["deployment_id"] for run in _scheduled_runs(server)}


def _scheduled_runs(server: PrefectServer) -> list[dict[str, Any]]:
    """Runs that nobody asked for by hand."""
    found: list[dict[str, Any]] = server.call("/flow_runs/filter", {"sort": "START_TIME_ASC", "limit": 200})
    return [run for run in found if run["auto_scheduled"]]


def _state(run: dict[str, Any]) -> str:
    return str(run["state_type"])
