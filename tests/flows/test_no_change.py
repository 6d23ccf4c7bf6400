"""Runs where no Prefect server is configured: one that finds nothing new, and ones that find something."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from flows.begun import take_over
from flows.run.resources import Resources
from flows.start import run_source
from schemas.errors import GuardRefused, SitegraphError, StoreUnavailable
from tests.fakes.copies import copy_index
from tests.fakes.handbook import Handbook
from tests.fakes.prefect_server import REPO, poll, running_server
from tests.fakes.site_server import Reply
from tests.fakes.sitegraph_runs import Sitegraph, report_of
from tests.flows.test_killed_run import slow_down

pytestmark = pytest.mark.server

SLOW = {
    *("prefect", "torch", "transformers", "sentence_transformers", "lancedb", "lance", "onnxruntime", "onnx"),
    *("pymupdf", "trafilatura", "spacy", "neo4j", "fastapi", "uvicorn", "playwright", "pandas"),
}
"""Packages that a run which finds nothing new has no use for; each takes a tenth of a second to seconds."""

WATCHED = """
import json, sys
started = []
sys.addaudithook(lambda event, arguments: started.append(event) if event.startswith(
    ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.exec")) else None)
from sitegraph.cli.app import run_app
code = run_app(sys.argv[1:])
packages = sorted({name.partition(".")[0] for name in sys.modules})
print(json.dumps({"code": code, "started": started, "packages": packages}), file=sys.stderr)
"""


@pytest.fixture
def alone(sitegraph: Sitegraph, tmp_path: Path) -> Sitegraph:
    """The program where no server is configured, with a home of Prefect's that nothing has written to."""
    environment = {name: value for name, value in sitegraph.environment.items() if name != "PREFECT_API_URL"}
    return Sitegraph(environment={**environment, "PREFECT_HOME": str(tmp_path / "prefect")})


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A source of files."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "one.md").write_text("# One\n\nThe only note in this folder says so.\n")
    source = tmp_path / "notes.yaml"
    source.write_text("name: notes\nkind: files\nroots: [notes]\n")
    return source


def watched(program: Sitegraph, *arguments: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The report of a run, and what it imported and started."""
    command = [sys.executable, "-c", WATCHED, "run", *arguments, "--format", "json"]
    done = subprocess.run(
        command, cwd=REPO, env=dict(program.environment), capture_output=True, text=True, check=True
    )
    seen: dict[str, Any] = json.loads(done.stderr.splitlines()[-1])
    assert seen["code"] == 0, done.stderr
    return json.loads(done.stdout), seen


def flow_runs(program: Sitegraph) -> list[str]:
    """States of the flow runs that Prefect has kept."""
    kept = Path(program.environment["PREFECT_HOME"]) / "prefect.db"
    if not kept.exists():
        return []
    with sqlite3.connect(kept) as database:
        return [state for (state,) in database.execute("SELECT state_type FROM flow_run")]


def test_a_run_of_a_site_without_a_change_imports_nothing_slow_and_starts_no_process(
    alone: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    report, seen = watched(alone, str(source), "--index", str(index))

    assert report["generation"] is None
    assert report["documents"]["not_modified"] == report["documents"]["scheduled"] == 10
    assert set(seen["packages"]) & SLOW == set()
    assert seen["started"] == []
    assert not Path(alone.environment["PREFECT_HOME"]).exists()


def test_a_run_of_files_without_a_change_imports_nothing_slow_and_starts_no_process(
    sitegraph: Sitegraph, alone: Sitegraph, notes: Path, index: Path
) -> None:
    sitegraph.run(notes, index)

    report, seen = watched(alone, str(notes), "--index", str(index))

    assert report["generation"] is None
    assert report["documents"]["unchanged"] == 1
    assert set(seen["packages"]) & SLOW == set()
    assert seen["started"] == []
    runs = json.loads(alone.command("status", "--index", str(index), "--format", "json").stdout)
    assert "finished" in json.dumps(runs), "status tells of it all the same"


def test_a_change_is_published_by_a_flow_run_that_asks_for_nothing_twice(
    sitegraph: Sitegraph, alone: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    handbook.edit("/leases.html", "Losing Leases", "Whoever loses a lease pays the porter a silver coin.")

    done = alone.command("run", str(source), "--index", str(index), "--format", "json")

    report = report_of(done)
    asked = [path for path in handbook.site.paths() if "sitegraph-" not in path]
    assert (report["generation"], report["documents"]["changed"]) == (2, 1)
    assert report["documents"]["scheduled"] == 10
    assert sorted(asked) == sorted(set(asked))
    assert report["http"]["requests"] == len(handbook.site.log)
    assert report["stages"]["start"] > 1, "Prefect and its server take seconds to start, which are the run's"
    assert "resuming" not in done.stderr
    assert flow_runs(alone) == ["COMPLETED"]
    assert sitegraph.damage(index) == ()
    home = Path(alone.environment["PREFECT_HOME"])
    assert not (home / "memo_store.toml").exists(), "no types of blocks are registered yet"
    with running_server(home) as later:
        assert [run["name"] for run in later.call("/flow_runs/filter", {})] == ["handbook"]
        assert later.call("/block_types/filter", {}), "registered by the server that lasts"


class Flow:
    """Stands for the flow: remembers the run that it was to go on with."""

    def __init__(self, error: SitegraphError | None = None) -> None:
        self.handed_over: list[Resources | None] = []
        self.stopped = False
        self.error = error

    def __call__(self, **_options: Any) -> dict[str, Any]:
        begun = take_over()
        self.handed_over.append(begun.resources if begun else None)
        self.stopped = begun is not None and begun.resources.stop.is_set()
        if self.error is not None:
            raise self.error
        return {}


@pytest.fixture
def flow(alone: Sitegraph, monkeypatch: pytest.MonkeyPatch) -> Flow:
    """Runs of this process, without a server, come to it where there is more to do than to look."""
    flow = Flow()
    monkeypatch.setattr("flows.start._run_flow", flow)
    for name, value in alone.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    return flow


def run(source: Path, index: Path, **options: bool) -> Mapping[str, Any]:
    chosen = {"due": False, "accept": False, **options}
    return run_source(str(source), index=str(index), folder=index, graph=None, **chosen)


@pytest.mark.parametrize("due", [False, True])
def test_a_look_reports_what_the_flow_would(
    sitegraph: Sitegraph, flow: Flow, handbook: Handbook, source: Path, index: Path, tmp_path: Path, due: bool
) -> None:
    other = copy_index(index, tmp_path / "other")

    looked, walked = run(source, index, due=due), sitegraph.run(source, other, due=due)

    assert looked["freshness"]["as_of"] == walked["freshness"]["as_of"]
    own = ("run_id", "stages", "cost", "peak_rss_mb", "freshness")
    assert {k: v for k, v in looked.items() if k not in own} == {
        k: v for k, v in walked.items() if k not in own
    }
    assert flow.handed_over == []


@pytest.mark.parametrize("change", ["edit", "remove", "redirect", "add"])
def test_whatever_changes_what_readers_see_is_left_to_the_flow(
    flow: Flow, handbook: Handbook, source: Path, index: Path, change: str
) -> None:
    if change == "edit":
        handbook.edit("/leases.html", "Losing Leases", "Whoever loses a lease pays a silver coin.")
    elif change == "add":
        handbook.write("/archives.html", handbook.articles["/leases.html"])
        handbook.link("/index.html", "/archives.html", "the archives")
    elif change == "remove":
        handbook.remove("/tokens.html", status=410)
    else:
        handbook.site.pages["/tokens.html"] = Reply(b"", 301, {"Location": "/leases.html"})

    run(source, index)

    (resources,) = flow.handed_over
    assert resources is not None
    assert resources.source.name == "handbook"
    assert take_over() is None


def test_a_new_index_is_left_to_the_flow(flow: Flow, source: Path, tmp_path: Path) -> None:
    run(source, tmp_path / "new")

    assert flow.handed_over == [None]


@pytest.mark.long
def test_an_interrupted_generation_is_left_to_the_flow(
    sitegraph: Sitegraph, flow: Flow, handbook: Handbook, source: Path, index: Path
) -> None:
    handbook.edit("/leases.html", "Losing Leases", "Whoever loses a lease pays a silver coin.")
    killed = sitegraph.command("run", str(source), "--index", str(index), SITEGRAPH_FAULT="plan.frozen:kill")
    assert killed.returncode == -9

    run(source, index)

    assert len(flow.handed_over) == 1


def test_a_store_that_goes_away_is_left_to_the_flow_which_tries_again(
    flow: Flow, source: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object, **__: object) -> int:
        raise StoreUnavailable("went away", subject="ledger")

    monkeypatch.setattr("flows.crawl.fetch.fetch_batch", gone)

    run(source, index)

    assert len(flow.handed_over) == 1
    assert not flow.stopped


def test_a_refusal_is_left_to_the_flow_and_the_run_is_over(
    flow: Flow, handbook: Handbook, source: Path, index: Path
) -> None:
    """So that it is seen where flow runs are seen, and the next run looks again."""
    for name in ("tokens", "guards", "batches"):
        handbook.remove(f"/{name}.html", status=410)
    flow.error = GuardRefused("as the flow finds")

    with pytest.raises(GuardRefused, match="as the flow finds"):
        run(source, index)

    (resources,) = flow.handed_over
    assert resources is not None
    with sqlite3.connect(index / "ledger.sqlite") as ledger:
        query = "SELECT state FROM run WHERE run_id = ?"
        assert ledger.execute(query, [resources.run.run_id]).fetchone() == ("refused",)


@pytest.mark.parametrize(
    ("sent", "code"),
    [pytest.param(signal.SIGINT, 130, marks=pytest.mark.long), (signal.SIGTERM, 143)],
)
def test_a_look_that_is_stopped_ends_soon_and_the_next_one_goes_on(
    alone: Sitegraph,
    flow: Flow,
    handbook: Handbook,
    source: Path,
    index: Path,
    sent: signal.Signals,
    code: int,
) -> None:
    slow_down(handbook, seconds=0.5)
    with alone.process("run", str(source), "--index", str(index)) as process:
        poll(lambda: len(handbook.site.log) >= 5 or None, timeout=300, what="a few pages")
        os.killpg(process.pid, sent)
        _, said = process.communicate(timeout=120)
    before = set(handbook.asked())

    report = run(source, index)

    assert process.returncode == code
    assert "run again to continue" in said
    assert report["documents"]["scheduled"] == 10
    again = set(handbook.asked())
    assert len(before & again & set(handbook.articles)) < len(before), "what was had is not asked for again"
    assert flow.handed_over == []
