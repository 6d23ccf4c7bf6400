"""A folder of Markdown, HTML and PDF as a source."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.copies import copy_index
from tests.fakes.deep_folders import deep_folders
from tests.fakes.pdfs import Text, heading, pdf_bytes, prose
from tests.fakes.sitegraph_runs import Rows, Sitegraph, report_of

pytestmark = pytest.mark.server
__all__ = ["deep_folders"]

LEASES = """---
id: GOV-0017
title: Leases
depends_on: [GOV-0042]
---
# Leases

A lease of the house runs for sixty seconds. See [the way back](R%C3%BCckweg%20nach%20Hause.md#at-night).
"""
WAY_BACK = """# Way back

## At night

Whoever walks home at night takes the lantern from the hook beside the gate.
"""
TOKENS = "---\nid: GOV-0042\ntitle: Tokens\n---\n# Tokens\n\nA token grows by one with every new holder.\n"
BELLS = (
    "<html><head><title>Bells</title></head><body><main><h1>Bells</h1>"
    "<p>The bell in the yard is rung twice before the gate is locked for the night.</p></main></body></html>"
)


FOLDER = "notes of the house"


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of notes beside its source file; it is copied, never written to."""
    folder = tmp_path_factory.mktemp("files")
    write_notes(folder / FOLDER)
    (folder / "notes.yaml").write_text(f"name: notes\nkind: files\nroots: ['{FOLDER}']\n")
    return folder


def write_notes(root: Path) -> None:
    (root / "law").mkdir(parents=True)
    (root / "law" / "Leases.md").write_text(LEASES)
    (root / "law" / "Rückweg nach Hause.md").write_text(WAY_BACK)
    (root / "Bells (draft).html").write_text(BELLS)
    for number in range(6):
        (root / f"note {number}.md").write_text(f"# Note {number}\n\n{prose(f'note {number}')}\n")
    (root / "Lanterns.pdf").write_bytes(lanterns())


def lanterns(*more: str) -> bytes:
    """A page about lanterns, and one about each of some other things."""
    pages = [[prose_text(topic)] for topic in more]
    return pdf_bytes([[heading("Lanterns"), prose_text("lantern")], *pages], toc=[(1, "Lanterns", 1)])


def prose_text(topic: str) -> Text:
    """A block of body text for a PDF."""
    return Text(prose(topic))


@dataclass(frozen=True, slots=True)
class FirstRun:
    """What a first run of the notes has made; it is copied, never written to."""

    index: Path
    report: dict[str, Any]


@pytest.fixture(scope="module")
def first_run(sitegraph: Sitegraph, notes: Path, tmp_path_factory: pytest.TempPathFactory) -> FirstRun:
    index = tmp_path_factory.mktemp("first") / "index"
    return FirstRun(index, sitegraph.run(notes / "notes.yaml", index))


@pytest.fixture
def source(notes: Path, tmp_path: Path) -> Path:
    """The source file beside a copy of the notes."""
    return shutil.copytree(notes, tmp_path / "copy") / "notes.yaml"


@pytest.fixture
def root(source: Path) -> Path:
    return source.parent / FOLDER


@pytest.fixture
def index(first_run: FirstRun, source: Path) -> Path:
    """A copy of the index after the first run, beside the source file."""
    return copy_index(first_run.index, source.parent / "index")


def ids_by_path(exported: dict[str, Rows]) -> dict[str, str]:
    return {row["path"]: row["id"] for row in exported["documents"]}


def test_a_loop_of_links_and_folders_without_end_stop_no_other_file(
    sitegraph: Sitegraph, root: Path, source: Path, deep_folders: Path
) -> None:
    (root / "again.md").symlink_to("again.md")
    (root / "round").symlink_to(".", target_is_directory=True)
    deep_folders.rename(root / "deep")
    try:
        done = sitegraph.call("run", str(source), "--index", str(source.parent / "index"), "--format", "json")
    finally:
        (root / "deep").rename(deep_folders)

    report = report_of(done)
    assert report["documents"]["added"] == 11
    assert {
        "url": "files://notes/again.md",
        "reason": "left out: it is a link that leads back to itself",
    } in report["problems"]


def test_files_of_every_kind_are_cited_by_their_path(sitegraph: Sitegraph, index: Path) -> None:
    exported = sitegraph.export(index)

    kinds = {row["path"]: row["kind"] for row in exported["documents"]}
    assert kinds["law/Rückweg nach Hause.md"] == "markdown"
    assert kinds["Bells (draft).html"] == "html"
    assert kinds["Lanterns.pdf"] == "pdf"
    for row in exported["chunks"]:
        assert row["file_path"] in kinds
        assert row["url"] is None
        assert (row["page_no"] == 1 and len(row["bbox"]) == 4) == (row["kind"] == "pdf")
    assert sitegraph.damage(index) == ()


def test_a_link_to_a_name_with_spaces_and_umlauts_is_an_edge(sitegraph: Sitegraph, index: Path) -> None:
    exported = sitegraph.export(index)
    ids = ids_by_path(exported)
    way_back = ids["law/Rückweg nach Hause.md"]

    (link,) = [row for row in exported["edges"] if row["kind"] == "links_to"]
    assert (link["src"], link["dst"], link["fragment"]) == (ids["law/Leases.md"], way_back, "at-night")
    texts = {row["fragment"]: row["anchor_texts"] for row in exported["chunks"] if row["doc"] == way_back}
    assert texts["at-night"] == ["the way back"]


def test_what_comes_later_is_all_that_is_read_and_leaves_what_a_clean_run_makes(
    sitegraph: Sitegraph, root: Path, source: Path, index: Path
) -> None:
    before = sitegraph.export(index)
    assert "depends_on" not in {row["kind"] for row in before["edges"]}
    (root / "Tokens.md").write_text(TOKENS)
    (root / "Lanterns.pdf").write_bytes(lanterns("candle"))

    report = sitegraph.run(source, index)

    after = sitegraph.export(index)
    ids = ids_by_path(after)
    (relation,) = [row for row in after["edges"] if row["kind"] == "depends_on"]
    assert (relation["src"], relation["dst"]) == (ids["law/Leases.md"], ids["Tokens.md"])
    assert report["documents"]["added"] == 1
    assert report["pdf_pages"] == {"read": 1, "recognised": 0, "reused": 1}
    assert report["chunks"]["removed"] == 0
    sitegraph.run(source, index.parent / "clean")
    assert sitegraph.export(index.parent / "clean") == after


def test_an_unresolved_relation_is_a_problem(first_run: FirstRun) -> None:
    documents = first_run.report["documents"]
    assert documents["added"] == documents["scheduled"] == 10
    assert [problem["reason"] for problem in first_run.report["problems"]] == [
        "front matter names 'GOV-0042', which no document has"
    ]


@pytest.mark.long
def test_of_two_files_with_one_id_the_relation_leads_to_the_same_in_any_order(
    sitegraph: Sitegraph, root: Path, source: Path, index: Path
) -> None:
    """One of the two comes a run later, and is edited after that."""
    (root / "Tokens.md").write_text(TOKENS)
    sitegraph.run(source, index)
    (root / "Tokens again.md").write_text(TOKENS.replace("title: Tokens", "title: Tokens again"))
    sitegraph.run(source, index)
    for name in ("Tokens.md", "Tokens again.md"):
        path = root / name
        path.write_text(path.read_text() + "\nIt is never used twice.\n")
        sitegraph.run(source, index)

    sitegraph.run(source, index.parent / "clean")
    assert sitegraph.export(index.parent / "clean") == sitegraph.export(index)
    (root / "Tokens.md").unlink()
    sitegraph.run(source, index)
    sitegraph.run(source, index.parent / "clean")
    assert sitegraph.export(index.parent / "clean") == sitegraph.export(index)


def test_a_deleted_file_is_gone_at_once_and_a_restored_one_back(
    sitegraph: Sitegraph, root: Path, source: Path, index: Path
) -> None:
    before = sitegraph.export(index)
    (root / "note 3.md").rename(root.parent / "kept")

    deleted = sitegraph.run(source, index)
    without = sitegraph.export(index)
    (root.parent / "kept").rename(root / "note 3.md")
    restored = sitegraph.run(source, index)

    assert deleted["documents"]["gone"] == 1
    assert "note 3.md" not in ids_by_path(without)
    assert restored["documents"]["added"] == 1
    assert restored["chunks"]["embedded"] == 0
    assert sitegraph.export(index) == before


def test_a_renamed_folder_and_a_renamed_file_have_moved_and_are_not_deleted(
    sitegraph: Sitegraph, root: Path, source: Path, index: Path
) -> None:
    before = ids_by_path(sitegraph.export(index))
    (root / "law").rename(root / "house law")
    for number in range(6):
        (root / f"note {number}.md").rename(root / f"remark {number}.md")

    report = sitegraph.run(source, index)

    assert (report["documents"]["moved"], report["documents"]["gone"]) == (8, 0)
    assert report["chunks"]["embedded"] == 0
    told = sitegraph.call("changes", "--since", "1", "--index", str(index), "--format", "jsonl").stdout
    after = ids_by_path(sitegraph.export(index))
    changes = [json.loads(line) for line in told.splitlines()]
    moved = {one["old_id"]: one["new_id"] for one in changes if one["kind"] == "document"}
    assert moved[before["law/Leases.md"]] == after["house law/Leases.md"]
    sitegraph.run(source, index.parent / "clean")
    assert sitegraph.export(index.parent / "clean") == sitegraph.export(index)


def test_an_untouched_folder_makes_no_generation(sitegraph: Sitegraph, source: Path, index: Path) -> None:
    report = sitegraph.run(source, index)

    assert report["generation"] is None
    assert report["documents"]["unchanged"] == 10
    assert report["http"] == {"requests": 0, "status": {}, "bytes": 0}


def test_a_title_of_signs_that_databases_read_stops_no_run_and_goes_with_its_page(
    sitegraph: Sitegraph, root: Path, source: Path, index: Path
) -> None:
    (root / "note 0.md").write_text("# Note 0\n\nThe keeper learnt it: Shell it\\'s quote rule, at last.\n")
    for name, title in {"quoted": "Shell it\\\\'s quote rule", "half": "Half \\ud800 \\0 a sign"}.items():
        (root / f"{name}.md").write_text(f'---\ntitle: "{title}"\n---\n# Rule\n\nOf {name} things.\n')
    report = sitegraph.run(source, index)
    assert (report["documents"]["added"], report["documents"]["failed"], report["problems"]) == (2, 0, [])
    titles = {row["path"]: row["title"] for row in sitegraph.export(index)["documents"]}
    assert (titles["quoted.md"], titles["half.md"]) == ("Shell it\\'s quote rule", "Half ? \0 a sign")

    (root / "quoted.md").unlink()
    report = sitegraph.run(source, index)
    assert report["documents"]["gone"] == 1
    assert sitegraph.damage(index) == ()
