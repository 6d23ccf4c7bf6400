"""Schedules fire: deploy/prefect.yaml with an interval of seconds, until a run of its own has completed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.fakes.exported_encoder import encoder_cache
from tests.fakes.prefect_server import REPO, PrefectServer, poll, running_server, running_worker

pytestmark = [pytest.mark.server, pytest.mark.timeout(400)]

INTERVAL_SECONDS = 10
PATIENCE_SECONDS = 200


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
    with running_server(home, **database) as running:
        yield running


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "lease.md").write_text(
        "# Leases\n\nWhoever holds a lease may write; whoever lost it stops without publishing.\n"
    )
    source = tmp_path / "notes.yaml"
    source.write_text("name: notes\nkind: files\nroots: [notes]\n")
    return source


def test_a_schedule_brings_a_run_that_completes(server: PrefectServer, source: Path, tmp_path: Path) -> None:
    environment = {"SITEGRAPH_CACHE": str(encoder_cache()), "SITEGRAPH_WORKERS": "1"}

    with running_worker(server, "sitegraph", log=tmp_path / "worker.log", **environment):
        server.deploy(_every_few_seconds(source, tmp_path), SITEGRAPH_HOME=str(REPO))
        completed = poll(
            lambda: next((run for run in _scheduled_runs(server) if _state(run) == "COMPLETED"), None),
            timeout=PATIENCE_SECONDS,
            what="a scheduled run to complete",
        )
        ahead = server.cli("flow-run", "ls", "--state", "SCHEDULED", COLUMNS="200")

    assert (tmp_path / "index" / "CURRENT").read_text().startswith("1\n"), server.logs(completed["id"])
    assert "index-source" in ahead, "the command by which the manual has people see that schedules fire"
    assert {_state(run) for run in _scheduled_runs(server)}.isdisjoint({"FAILED", "CRASHED"})
    log = (tmp_path / "prefect" / "server.log").read_text(errors="replace")
    assert [line for line in log.splitlines() if "ERROR" in line or "Traceback" in line] == []


def _every_few_seconds(source: Path, folder: Path) -> Path:
    """The deployments that ship, but for the time between two runs, the source and the index."""
    file = yaml.safe_load((REPO / "deploy" / "prefect.yaml").read_text())
    nightly = next(entry for entry in file["deployments"] if entry["name"] == "nightly")
    nightly["parameters"] |= {"source": str(source), "index": str(folder / "index")}
    nightly["schedules"] = [{"interval": INTERVAL_SECONDS, "slug": "seconds"}]
    (folder / "prefect.yaml").write_text(yaml.safe_dump(file))
    return folder / "prefect.yaml"


def _scheduled_runs(server: PrefectServer) -> list[dict[str, Any]]:
    """Runs that nobody asked for by hand."""
    found: list[dict[str, Any]] = server.call("/flow_runs/filter", {"sort": "START_TIME_ASC", "limit": 200})
    return [run for run in found if run["auto_scheduled"]]


def _state(run: dict[str, Any]) -> str:
    return str(run["state_type"])
