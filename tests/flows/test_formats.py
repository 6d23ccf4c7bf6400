"""A folder with a file of each format: one run, and each is found by what it says, under its headings."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from ingest.parse.formats.registry import installed_formats
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = pytest.mark.server

SAMPLES = Path(__file__).parents[1] / "samples" / "formats"
WITHOUT_HEADINGS = {"pdf", "text"}
"""The sample of PDF is a line; those of PDFs with headings have tests of their own."""
OTHER_HEADINGS = {"man": ["LIGHT(7)", "TRIMMING THE WICK"]}


@pytest.fixture(scope="module")
def folder(sitegraph: Sitegraph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples and their index; every file of them was read."""
    folder = tmp_path_factory.mktemp("formats")
    shutil.copytree(SAMPLES, folder / "papers")
    (folder / "papers.yaml").write_text("name: papers\nkind: files\nroots: [papers]\n")
    report = sitegraph.run(folder / "papers.yaml", folder / "index")
    told = {one["url"]: one["reason"] for one in report["problems"]}
    named = ("asciidoc.1.adoc", "info.2.info.gz", "openapi.1.json", "rst.1.rst")
    others = {told.pop(f"files://papers/{name}") for name in named}
    assert all("not read: " in reason for reason in others), "which name other files"
    assert told.keys() == {"files://papers/xlsx.1.xlsx"}
    assert "left out as hidden: sheets 1, rows 1" in told["files://papers/xlsx.1.xlsx"]
    assert report["documents"]["added"] == len(list(SAMPLES.iterdir()))
    return folder


def ask(sitegraph: Sitegraph, folder: Path, question: str, *more: str) -> list[dict[str, Any]]:
    """Passages that a reader is shown."""
    told = sitegraph.call("query", question, "--index", str(folder / "index"), "--format", "json", *more)
    assert told.returncode == 0, told.stderr
    found: list[dict[str, Any]] = json.loads(told.stdout)["evidence"]
    return found


@pytest.mark.parametrize(
    "name", [one.name for one in installed_formats() if one.name not in WITHOUT_HEADINGS]
)
def test_a_passage_is_found_under_its_headings_in_the_file(
    sitegraph: Sitegraph, folder: Path, name: str
) -> None:
    first, *_ = ask(sitegraph, folder, "How is the wick cut?", "--filter", f"kind={name}")

    (sample,) = SAMPLES.glob(f"{name}.1.*")
    assert first["file_path"] == sample.name
    assert first["heading_path"] == OTHER_HEADINGS.get(name, ["Keeping the light", "Trimming the wick"])
    assert "Cut the wick straight" in first["text"]


def test_a_second_run_parses_nothing_again(sitegraph: Sitegraph, folder: Path) -> None:
    report = sitegraph.run(folder / "papers.yaml", folder / "index")

    assert report["documents"]["unchanged"] == len(list(SAMPLES.iterdir()))
