"""A kind of source that another package brings, built and installed as its users would."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.sitegraph_runs import Sitegraph, report_of

pytestmark = pytest.mark.server

PROJECT = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "shelf-of-notes"
version = "1.0"

[project.entry-points."sitegraph.sources"]
shelf = "shelf_of_notes:KIND"

[tool.hatch.build.targets.wheel]
only-include = ["shelf_of_notes.py"]
"""

EXTENDING = Path(__file__).resolve().parents[2] / "docs" / "extending.md"


def shown_module() -> str:
    """The module of the manual's page, as authors copy it."""
    blocks = re.findall(r"^```python\n(.*?)^```", EXTENDING.read_text(), re.MULTILINE | re.DOTALL)
    (module,) = (block for block in blocks if "KIND = SourceKind(" in block)
    return module


@pytest.fixture
def installed(tmp_path: Path) -> str:
    """The folder that the package was built and installed into."""
    project, target = tmp_path / "package", tmp_path / "site"
    project.mkdir()
    (project / "pyproject.toml").write_text(PROJECT)
    (project / "shelf_of_notes.py").write_text(shown_module())
    uv = Path(sys.executable).with_name("uv")
    offline = ("--offline", "--no-deps", "--no-build-isolation", "--quiet", "--python", sys.executable)
    command = [str(uv), "pip", "install", *offline, "--target", str(target), str(project)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return str(target)


def test_a_kind_of_another_package_is_run_and_what_it_brought_is_found(
    sitegraph: Sitegraph, installed: str, tmp_path: Path
) -> None:
    notes = {"Lanterns": "The lantern hangs beside the gate.", "Bells": "The bell is rung twice at dusk."}
    shelf, source, index = tmp_path / "shelf.json", tmp_path / "notes.yaml", tmp_path / "index"
    shelf.write_text(json.dumps(notes))
    source.write_text("name: notes\nkind: shelf\nshelf: shelf.json\n")
    run = ("run", str(source), "--index", str(index), "--format", "json")

    refused = sitegraph.command(*run)
    first = report_of(sitegraph.command(*run, PYTHONPATH=installed))
    shelf.write_text(json.dumps({**notes, "Bells": "The bell is rung once at noon."}))
    second = report_of(sitegraph.command(*run, PYTHONPATH=installed))
    found = sitegraph.call("query", "when does the bell ring", "--index", str(index), "--format", "json")

    assert refused.returncode == 2
    assert "kind: Input should be 'web', 'files', 'git' or 'warc'" in refused.stderr
    assert first["documents"]["added"] == 2
    assert (second["documents"]["changed"], second["documents"]["not_modified"]) == (1, 1)
    (cited, *_) = json.loads(found.stdout)["citations"]
    assert cited["file_path"] == "Bells.md"
    assert "once at noon" in found.stdout
