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

LIGHT = """
import json, sys
lacking = set(json.loads(sys.argv[1]))
class Without:
    def __init__(self, finder):
        self.finder = finder
    def __getattr__(self, name):
        return getattr(self.finder, name)
    def find_spec(self, name, *more):
        return None if name.partition(".")[0] in lacking else self.finder.find_spec(name, *more)
sys.meta_path[:] = map(Without, sys.meta_path)
from sitegraph.cli.app import run_app
print(json.dumps([run_app(call) for call in json.loads(sys.argv[2])]), file=sys.stderr)
"""
"""Calls commands one after the other where packages are missing."""

NOT_LIGHT = (
    *("torch", "transformers", "sentence_transformers", "scipy", "sklearn", "onnxscript", "huggingface_hub"),
    *("prefect", "dulwich", "warcio", "mammoth", "pptx", "nbformat", "docutils"),
)


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
    assert set(seen_again["packages"]) & (SLOW | {"httpx2"}) == set()
    assert seen_again["started"] == []
    told = sitegraph.call("status", "--index", call[-1], "--format", "json").stdout
    assert "finished" in told


def test_a_new_user_builds_and_asks_a_first_index_without_torch_and_prefect(
    sitegraph: Sitegraph, notes: Path, tmp_path: Path
) -> None:
    index = ("--index", str(tmp_path / "index"))
    calls = [
        ("run", str(notes), *index, "--quiet", "--format", "json"),
        ("query", "the only note", *index, "--format", "json"),
        ("ask", "What does the only note say?", *index),
        ("run", str(notes), *index, "--prefect"),
    ]

    done = subprocess.run(
        [sys.executable, "-c", LIGHT, json.dumps(NOT_LIGHT), json.dumps(calls)],
        cwd=REPO,
        env={**sitegraph.environment, "SITEGRAPH_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=True,
    )

    *_, refused, codes = done.stderr.splitlines()
    assert json.loads(codes) == [0, 0, 0, 2], done.stderr
    assert refused.endswith('run: pip install "sitegraph[pipeline]"')
    assert [path.name for path in (tmp_path / "cache").iterdir() if path.is_dir()], "the export of a new user"
    assert "The only note in this folder says so." in done.stdout


@pytest.mark.parametrize(
    ("sent", "code", "is_first"), [(signal.SIGINT, 130, True), (signal.SIGTERM, 143, False)]
)
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
        pages = set(handbook.articles)
        poll(lambda: len(pages & set(handbook.site.paths())) > 1 or None, timeout=300, what="a few pages")
        os.killpg(process.pid, sent)
        out, said = process.communicate(timeout=120)
    before = set(handbook.asked())

    report = sitegraph.run(source, index)

    assert (process.returncode, out) == (code, "")
    assert "run again to continue" in said
    assert report["documents"]["scheduled"] == 10
    again = set(handbook.asked())
    assert len(before & again & pages) < len(before & pages), "what was had is not asked for again"
