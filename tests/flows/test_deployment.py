"""What `sitegraph deploy` makes, on a real Prefect server: a process worker runs the flow on a small site."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.exported_encoder import encoder_cache
from tests.fakes.prefect_server import REPO, FlowRun, PrefectServer, poll, running_worker
from tests.fakes.site_server import Reply, Site, serve, with_validators
from tests.fakes.sitegraph_runs import Sitegraph, sitegraph_on

pytestmark = [pytest.mark.system, pytest.mark.server, pytest.mark.timeout(500)]

MANUAL = "index-source/manual"


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
def manual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Path]]:
    """A site of nine pages, all linked from the first, and the folder of its source file."""
    names = ["leases", "tokens", "guards", "batches", "hosts", "stores", "rows", "runs"]
    links = " ".join(f'<a href="/{name}.html">{name}</a>' for name in names)
    pages = {"/index.html": Reply(_page("Manual", f"What an operator asks about {links}."))}
    for name in names:
        pages[f"/{name}.html"] = Reply(
            _page(name, f"What an operator should know about {name} of this house.")
        )
    folder = tmp_path_factory.mktemp("manual")
    with serve(Site({**pages, "/robots.txt": Reply(b"", 404)})) as served:
        (folder / "manual.yaml").write_text(
            f"name: manual\nkind: web\nseeds: ['{served.url('/index.html')}']\n"
            f"scope: {{exclude: ['*/start.html']}}\n"
            f"allow_private: ['{served.address}']\nrate: {{per_host_delay: 0}}\n"
        )
        yield served, folder


@pytest.fixture(scope="module")
def deployed(prefect_server: PrefectServer, folder: Path) -> Iterator[PrefectServer]:
    settings = {"SITEGRAPH_CACHE": str(encoder_cache()), "SITEGRAPH_WORKERS": "1"}
    with running_worker(prefect_server, "sitegraph", log=folder / "worker.log", **settings):
        source = REPO / "sources" / "manual.yaml"
        sitegraph = sitegraph_on(prefect_server)
        done = sitegraph.call("deploy", str(source), "--home", str(REPO), "--no-alarms")
        assert done.returncode == 0, done.stderr
        yield prefect_server


@pytest.fixture(scope="module")
def first(deployed: PrefectServer, folder: Path) -> FlowRun:
    return _run(deployed, folder)


def _run(server: PrefectServer, folder: Path, *, source: str = "tiny", due: bool = False) -> FlowRun:
    parameters = {"source": str(folder / f"{source}.yaml"), "index": str(folder / "index"), "due": due}
    return server.wait(server.start(MANUAL, **parameters), timeout=240)


def test_a_worker_indexes_a_site_and_says_what_changed(
    deployed: PrefectServer, first: FlowRun, folder: Path
) -> None:
    assert first.state_type == "COMPLETED", deployed.logs(first.id)

    shown = deployed.artifacts(first.id)
    assert shown["sitegraph-tiny"].startswith("# tiny: generation 1\n")
    changed = {Path(row["url"]).name for row in json.loads(shown["sitegraph-tiny-changed"])}
    assert changed == {"start.html", "leases.html"}
    assert "lease expires" in _ask(folder / "index", "what happens when a lease expires")


def test_a_run_is_named_tagged_and_told_by_its_source(deployed: PrefectServer, first: FlowRun) -> None:
    wanted = {"start tiny", "plan tiny", "link tiny: 2 documents", "publish tiny: generation 1"}

    def recorded() -> set[str] | None:
        found = {t["name"] for t in deployed.task_runs(first.id) if t["state_type"] == "COMPLETED"}
        return found if wanted <= found else None

    tasks = poll(recorded, timeout=300, what="the task runs to be recorded")

    assert (first.name, first.state_name) == ("tiny", "Completed")
    assert "source:tiny" in first.tags
    assert first.message == "tiny: generation 1 published, 2 added"
    assert "fetch tiny: 127.0.0.1-0, 1 document" in tasks


WAITS_FOR = {
    "plan": {"start"},
    "parse": {"fetch"},
    "quarantine": {"plan_wave"},
    "recover": {"quarantine"},
    "diff": {"recover"},
    "embed": {"diff"},
    "link": {"diff"},
    "freeze": {"diff", "embed", "link"},
    "write": {"freeze"},
    "verify": {"freeze", "write"},
    "check": {"verify", "write"},
    "publish": {"check", "write"},
    "collect": {"diff", "publish"},
    "report": {"collect", "diff", "quarantine"},
}
"""What each stage waits for, by the values that it is given."""


def test_prefect_shows_which_stage_waits_for_which(deployed: PrefectServer, first: FlowRun) -> None:
    def recorded() -> list[dict[str, Any]] | None:
        found = deployed.task_runs(first.id)
        names = {stage_of(run) for run in found if run["state_type"] == "COMPLETED"}
        return found if WAITS_FOR.keys() <= names else None

    runs = poll(recorded, timeout=300, what="every stage to be recorded")
    stages = {run["id"]: stage_of(run) for run in runs}
    waits: dict[str, set[str]] = {}
    for run in runs:
        inputs = [one for given in run["task_inputs"].values() for one in given]
        before = {stages[one["id"]] for one in inputs if one["input_type"] == "task_run"}
        waits.setdefault(stage_of(run), set()).update(before)

    assert {stage: waits[stage] for stage in WAITS_FOR} == WAITS_FOR


def stage_of(run: dict[str, Any]) -> str:
    """The function of a task."""
    return str(run["task_key"]).rpartition("-")[0]


def test_what_the_stages_did_is_in_the_log_of_the_run(deployed: PrefectServer, first: FlowRun) -> None:
    log = _log_with(deployed, first, "tiny: generation 1 published")

    for said in (
        "planned tiny: 0 documents known before, 1 now",
        "wave of 1 documents in 1 batches: 127.0.0.1 1",
        "fetched 1 of 1: 1 fetched",
        "parsed 1, 0 had been before: 1 fetched",
        "compared with generation 0, 2 documents change",
        "linking 2 documents",
        "embedded ",
        "generation 1 planned on 0: ",
        "generation 1 verified",
        "generation 1 published",
    ):
        assert said in log, said


def test_a_site_that_answers_404_for_most_of_its_pages_is_not_nothing_changed(
    deployed: PrefectServer, sitegraph: Sitegraph, manual: tuple[Site, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    site, folder = manual
    assert sitegraph.run(folder / "manual.yaml", folder / "index")["documents"]["added"] == 9
    for name in ("leases", "tokens", "guards", "batches", "hosts", "stores"):
        monkeypatch.setitem(site.pages, f"/{name}.html", Reply(b"away", 404))

    held = _run(deployed, folder, source="manual")

    assert (held.state_type, held.state_name) == ("FAILED", "Refused")
    assert "6 of 9 documents were unavailable (HTTP 404: 6); max_failures allows 25% of them" in held.message
    assert (folder / "index" / "CURRENT").read_text().startswith("1\n")
    shown = deployed.artifacts(held.id)
    assert shown["sitegraph-manual"].startswith("# manual: refused\n")
    assert "6 of 9 documents" in shown["sitegraph-manual"]
    assert len(json.loads(shown["sitegraph-manual-problems"])) == 6
    assert "Traceback" not in _log_with(deployed, held, "6 of 9 documents were unavailable")
    told = _status(folder / "index")
    assert "last run refused at " in told
    assert "because 6 of 9 documents were unavailable" in told
    again = "404 are gone for good, go ahead with: prefect deployment run index-source/manual -p "
    assert again in held.message
    assert f"-p source={folder}/manual.yaml -p index={folder}/index -p accept=true" in held.message
    assert "sitegraph run" not in held.message
    assert "6 x missing: HTTP 404: http://" in told


def test_a_run_by_hand_logs_on_the_server_and_leaves_the_terminal_to_its_progress(
    deployed: PrefectServer, tmp_path: Path
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "lease.md").write_text(
        "# Lease\n\nWhoever holds the lease may write to the index.\n"
    )
    (tmp_path / "by-hand.yaml").write_text("name: by-hand\nkind: files\nroots: [notes]\n")
    kept = {k: v for k, v in deployed.environment.items() if k != "PREFECT_LOGGING_LEVEL"}
    environment = {**kept, "SITEGRAPH_CACHE": str(encoder_cache()), "SITEGRAPH_WORKERS": "1"}
    command = [
        "-m",
        "sitegraph.cli.app",
        "run",
        str(tmp_path / "by-hand.yaml"),
        "--index",
        str(tmp_path / "index"),
    ]

    done = subprocess.run(
        [sys.executable, *command],
        cwd=REPO,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )

    assert done.stdout.startswith("by-hand: generation 1 published\n")
    assert done.stderr == ""
    (run,) = deployed.call("/flow_runs/filter", {"flow_runs": {"name": {"any_": ["by-hand"]}}})
    ended = deployed.wait(run["id"])
    assert "generation 1 verified" in _log_with(deployed, ended, "by-hand: generation 1 published")


def _log_with(server: PrefectServer, run: FlowRun, said: str) -> str:
    """The log of a run, once it has come in as far as what is said in it."""

    def complete() -> str | None:
        lines = server.logs(run.id)
        return lines if said in lines else None

    return poll(complete, timeout=120, what=f"{said!r} in the log")


def _status(index: Path) -> str:
    command = [sys.executable, "-m", "sitegraph.cli.app", "status", "--index", str(index)]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=300, check=True)
    return done.stdout


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

    run = _run(deployed, folder, due=True)
    everything = _run(deployed, folder)

    assert run.name == "tiny (due)"
    assert run.state_type == "COMPLETED", "nothing is due yet, so nothing is asked"
    assert (everything.state_type, everything.state_name) == ("FAILED", "Refused")
    assert "Traceback" not in _log_with(deployed, everything, "cannot be read")
    seed = site.url("/start.html")
    assert everything.message == (
        f"tiny: seed {seed} cannot be read (HTTP 403); a login stands in a source file, under `auth` or "
        "`login`; nothing was changed"
    )


@pytest.mark.dear("the first that starts the Prefect server")
def test_the_deployment_has_the_schedule_of_the_source_file(deployed: PrefectServer) -> None:
    manual = deployed.call(f"/deployments/name/{MANUAL}")

    assert [(s["schedule"]["cron"], s["active"]) for s in manual["schedules"]] == [("15 2 * * *", True)]
    assert manual["concurrency_options"]["collision_strategy"] == "ENQUEUE"
    assert manual["parameters"] == {"source": "sources/manual.yaml"}


def _ask(index: Path, question: str) -> str:
    command = [sys.executable, "-m", "retrieval", "--index", str(index), "--query", question, "--top-k", "1"]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=300, check=True)
    (row,) = json.loads(done.stdout)
    return str(row["text"])
