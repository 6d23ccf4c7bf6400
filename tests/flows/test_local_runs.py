"""What a run imports and starts, and how it stops, where no Prefect server is configured."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.handbook import Handbook
from tests.fakes.prefect_server import REPO, poll
from tests.fakes.sitegraph_runs import Sitegraph
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


def test_a_run_of_a_site_without_a_change_imports_nothing_slow_and_starts_no_process(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    report, seen = watched(sitegraph, str(source), "--index", str(index))

    assert report["generation"] is None
    assert report["documents"]["not_modified"] == report["documents"]["scheduled"] == 10
    assert set(seen["packages"]) & SLOW == set()
    assert seen["started"] == []


def test_a_run_of_files_imports_prefect_never_and_what_writes_only_where_something_changed(
    sitegraph: Sitegraph, notes: Path, tmp_path: Path
) -> None:
    call = (str(notes), "--index", str(tmp_path / "index"))

    first, seen_first = watched(sitegraph, *call)
    again, seen_again = watched(sitegraph, *call)

    assert (first["generation"], again["generation"]) == (1, None)
    assert not {"prefect", "torch"} & set(seen_first["packages"])
    assert set(seen_again["packages"]) & SLOW == set()
    assert seen_again["started"] == []
    told = sitegraph.call("status", "--index", call[-1], "--format", "json").stdout
    assert "finished" in told


@pytest.mark.parametrize(("sent", "code"), [pytest.param(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("is_first", [False, True])
def test_a_run_that_is_stopped_ends_soon_and_the_next_one_goes_on(
    sitegraph: Sitegraph,
    handbook: Handbook,
    source: Path,
    index: Path,
    tmp_path: Path,
    sent: signal.Signals,
    code: int,
    is_first: bool,
) -> None:
    index = tmp_path / "new" if is_first else index
    slow_down(handbook, seconds=0.5)
    with sitegraph.process("run", str(source), "--index", str(index)) as process:
        poll(lambda: len(handbook.site.log) >= 5 or None, timeout=300, what="a few pages")
        os.killpg(process.pid, sent)
        _, said = process.communicate(timeout=120)
    before = set(handbook.asked())

    report = sitegraph.run(source, index)

    assert process.returncode == code
    assert "run again to continue" in said
    assert report["documents"]["scheduled"] == 10
    again = set(handbook.asked())
    assert len(before & again & set(handbook.articles)) < len(before), "what was had is not asked for again"
