"""deploy/prefect.yaml on a real Prefect server: a process worker runs the flow on a small site."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.prefect_server import REPO, FlowRun, PrefectServer, running_worker
from tests.fakes.site_server import Reply, Site, serve, with_validators

pytestmark = [pytest.mark.server, pytest.mark.timeout(500)]

NIGHTLY, DUE = "index-source/nightly", "index-source/due"


def _page(title: str, text: str) -> bytes:
    links = '<p><a href="/start.html">Start</a> <a href="/leases.html">Leases</a></p>'
    body = f"<h1>{title}</h1><p>{text}</p>{links}"
    return f"<html><head><title>{title}</title></head><body>{body}</body></html>".encode()


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    start = _page("Start", "A short introduction to a house that keeps its index true.")
    leases = _page("Leases", "When a lease expires its token is stale and the writer stops.")
    pages = {
        "/start.html": with_validators(start, etag='"start-1"'),
        "/leases.html": with_validators(leases, etag='"leases-1"'),
        "/robots.txt": Reply(b"", 404),
    }
    with serve(Site(pages)) as served:
        yield served


@pytest.fixture(scope="module")
def folder(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the source file is, and the index will be."""
    folder = tmp_path_factory.mktemp("deployment")
    (folder / "tiny.yaml").write_text(
        f"name: tiny\nkind: web\nseeds: ['{site.url('/start.html')}']\n"
        f"allow_private: ['{site.address}']\nrate: {{per_host_delay: 0}}\n"
    )
    return folder


@pytest.fixture(scope="module")
def deployed(prefect_server: PrefectServer, folder: Path) -> Iterator[PrefectServer]:
    with running_worker(prefect_server, "sitegraph", log=folder / "worker.log"):
        prefect_server.deploy(REPO / "deploy" / "prefect.yaml", SITEGRAPH_HOME=str(REPO))
        yield prefect_server


@pytest.fixture(scope="module")
def first(deployed: PrefectServer, folder: Path) -> FlowRun:
    return _run(deployed, folder)


def _run(server: PrefectServer, folder: Path, deployment: str = NIGHTLY) -> FlowRun:
    parameters = {"source": str(folder / "tiny.yaml"), "index": str(folder / "index")}
    return server.wait(server.start(deployment, **parameters), timeout=240)


def test_a_worker_indexes_a_site_and_says_what_changed(
    deployed: PrefectServer, first: FlowRun, folder: Path
) -> None:
    assert first.state_type == "COMPLETED", deployed.logs(first.id)

    shown = deployed.artifacts(first.id)
    assert shown["sitegraph-tiny"].startswith("# tiny: generation 1\n")
    changed = {Path(row["url"]).name for row in json.loads(shown["sitegraph-tiny-changed"])}
    assert changed == {"start.html", "leases.html"}
    assert "lease expires" in _ask(folder / "index", "what happens when a lease expires")


def test_the_next_run_finds_nothing_new(deployed: PrefectServer, first: FlowRun, folder: Path) -> None:
    again = _run(deployed, folder)

    assert again.state_type == "COMPLETED", deployed.logs(again.id)
    shown = deployed.artifacts(again.id)
    assert set(shown) == {"sitegraph-tiny"}
    assert shown["sitegraph-tiny"].startswith("# tiny: nothing changed, no generation\n")


def test_a_run_whose_seed_is_down_fails_and_says_which(
    deployed: PrefectServer, first: FlowRun, folder: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(site.pages, "/start.html", Reply(b"away", 403))

    run = _run(deployed, folder, DUE)
    everything = _run(deployed, folder)

    assert run.state_type == "COMPLETED", "nothing is due yet, so nothing is asked"
    assert everything.state_type == "FAILED"
    assert site.url("/start.html") in everything.message


def test_the_deployments_have_the_schedules_of_the_file(deployed: PrefectServer) -> None:
    nightly = deployed.call(f"/deployments/name/{NIGHTLY}")
    due = deployed.call(f"/deployments/name/{DUE}")

    assert [(s["schedule"]["cron"], s["active"]) for s in nightly["schedules"]] == [("15 2 * * *", True)]
    assert [(s["schedule"]["interval"], s["active"]) for s in due["schedules"]] == [(3600.0, False)]
    assert nightly["concurrency_options"]["collision_strategy"] == "CANCEL_NEW"
    assert due["parameters"]["due"] is True


def _ask(index: Path, question: str) -> str:
    command = [sys.executable, "-m", "retrieval", "--index", str(index), "--query", question, "--top-k", "1"]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=60, check=True)
    (row,) = json.loads(done.stdout)
    return str(row["text"])
