"""A run in this process and a Prefect flow give equal reports and indexes, also where one is interrupted."""

from pathlib import Path
from typing import Any

import pymupdf
import pytest

from tests.fakes.handbook import Handbook, write_source
from tests.fakes.sitegraph_runs import Sitegraph, report_of

pytestmark = [pytest.mark.system, pytest.mark.server]

OWN = ("run_id", "stages", "cost", "peak_rss_mb", "freshness")
"""Of a report: what two runs of the same never share."""


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A source of files: Markdown and a PDF."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.md").write_text(
            f"# Gate {number}\n\nThe keeper of gate {number} asks for a token.\n"
        )
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), "Whoever comes by night rings twice.")
        document.save(folder / "night.pdf")
    source = tmp_path / "notes.yaml"
    source.write_text("name: notes\nkind: files\nroots: [notes]\n")
    return source


def said(report: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in report.items() if key not in OWN}


def test_files_first_changed_and_unchanged(
    sitegraph: Sitegraph, on_prefect: Sitegraph, notes: Path, tmp_path: Path
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for change in ("", "He writes it down.\n", ""):
        with (notes.parent / "notes" / "1.md").open("a") as page:
            page.write(change)
        one, other = sitegraph.run(notes, here), on_prefect.run(notes, there)
        assert said(one) == said(other)
        assert one["stages"].keys() == other["stages"].keys()
    assert sitegraph.export(here) == sitegraph.export(there)


def test_a_site_that_changes_is_due_and_loses_a_page(
    sitegraph: Sitegraph, on_prefect: Sitegraph, handbook: Handbook, tmp_path: Path
) -> None:
    source, here, there = write_source(tmp_path, handbook), tmp_path / "here", tmp_path / "there"
    for options in ({}, {"due": True}, {"accept": True}):
        if options == {"accept": True}:
            handbook.edit("/leases.html", "Losing Leases", "Whoever loses a lease pays the porter a coin.")
            handbook.remove("/tokens.html", status=410)
        one = sitegraph.run(source, here, **options)
        assert said(one) == said(on_prefect.run(source, there, **options))
    assert sitegraph.export(here) == sitegraph.export(there)


@pytest.mark.parametrize("fault", ["parse.midway:kill", "plan.frozen:kill", "current.not_recorded:kill"])
@pytest.mark.parametrize("begun", ["sitegraph", "on_prefect"])
def test_what_one_engine_was_interrupted_in_the_other_ends(
    sitegraph: Sitegraph,
    on_prefect: Sitegraph,
    notes: Path,
    tmp_path: Path,
    fault: str,
    begun: str,
) -> None:
    first, second = (sitegraph, on_prefect) if begun == "sitegraph" else (on_prefect, sitegraph)
    killed = first.command("run", str(notes), "--index", str(tmp_path / "index"), SITEGRAPH_FAULT=fault)
    assert killed.returncode == -9

    second.run(notes, tmp_path / "index")

    sitegraph.run(notes, tmp_path / "clean")
    assert sitegraph.export(tmp_path / "index") == sitegraph.export(tmp_path / "clean")
    assert sitegraph.damage(tmp_path / "index") == ()


@pytest.mark.dear("the first that starts a Prefect server of its own")
def test_a_flow_is_run_where_it_is_asked_for_though_no_server_is_configured(
    sitegraph: Sitegraph, notes: Path, tmp_path: Path
) -> None:
    done = sitegraph.command(
        "run", str(notes), "--index", str(tmp_path / "index"), "--prefect", "--format", "json"
    )

    assert report_of(done)["generation"] == 1
    assert (Path(sitegraph.environment["PREFECT_HOME"]) / "prefect.db").exists()
