"""EPUBs in an index: a book is one document, each of its chapters a Page, and both live as documents do."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from indexes.layout import IndexLayout
from tests.fakes.copies import copy_index
from tests.fakes.epub_files import ebooklib_epub
from tests.fakes.neo4j_runs import exported, index, on_neo4j, seen
from tests.fakes.neo4j_server import Neo4jServer
from tests.fakes.sitegraph_runs import Rows, Sitegraph, assert_equals_clean_rebuild

pytestmark = pytest.mark.server
__all__ = ["index", "on_neo4j"]

BY_PANDOC = Path(__file__).parents[1] / "samples" / "formats" / "epub.2.epub"
ISLAND = {
    "Trimming the lamp": "<h1>Trimming the lamp</h1><p>The wick is cut straight across before dusk. "
    'What to burn is told <a href="ch2.xhtml#rape">elsewhere</a>.</p>',
    "Oil": '<h1>Oil</h1><p>Whale oil smokes.</p><h2 id="rape">Rape</h2><p>Rape oil burns clear.</p>',
    "Bells in fog": "<h1>Bells in fog</h1><p>In fog the bell is rung twice every minute.</p>",
}


@pytest.fixture(scope="module")
def shelf(sitegraph: Sitegraph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two books, a page that links to one, their source file and their index; copied, never written to."""
    folder = tmp_path_factory.mktemp("shelf")
    (folder / "books").mkdir()
    (folder / "books" / "island.epub").write_bytes(ebooklib_epub("The island", ISLAND))
    shutil.copy(BY_PANDOC, folder / "books" / "boats.epub")
    (folder / "books" / "notes.md").write_text("# Notes\n\nThe [book of the island](island.epub) has it.\n")
    (folder / "books.yaml").write_text("name: books\nkind: files\nroots: [books]\n")
    report = sitegraph.run(folder / "books.yaml", folder / "index")
    assert (report["problems"], report["documents"]["added"]) == ([], 3)
    return folder


@pytest.fixture
def source(shelf: Path, tmp_path: Path) -> Path:
    """The source file in a copy of the shelf."""
    return copy_index(shelf, tmp_path / "shelf") / "books.yaml"


@pytest.fixture
def folder(source: Path) -> Path:
    """The index in that copy."""
    return source.parent / "index"


def pages(export: dict[str, Rows], path: str) -> dict[str, dict[str, Any]]:
    """Page nodes of a file by title, the document first."""
    of_file = [row for row in export["nodes"] if row["kind"] == "Page" and row["path"] == path]
    return {row["title"]: row for row in sorted(of_file, key=lambda row: row["id"] != row["doc"])}


def test_a_book_is_one_document_and_its_chapters_are_pages_of_it(sitegraph: Sitegraph, shelf: Path) -> None:
    export = sitegraph.export(shelf / "index")
    book, *chapters = pages(export, "island.epub").values()

    assert {row["title"] for row in export["documents"]} == {"The island", "Boats of the island", "Notes"}
    assert {row["title"] for row in chapters} == {"Trimming the lamp", "Oil", "Bells in fog"}
    assert {row["doc"] for row in chapters} == {book["id"]}
    assert sitegraph.damage(shelf / "index") == ()


def test_an_edited_chapter_changes_itself_and_its_book_alone(
    sitegraph: Sitegraph, source: Path, folder: Path
) -> None:
    before = pages(sitegraph.export(folder), "island.epub")
    edited = {
        **ISLAND,
        "Bells in fog": "<h1>Bells in fog</h1><p>In fog the bell is rung thrice every minute.</p>",
    }
    (source.parent / "books" / "island.epub").write_bytes(ebooklib_epub("The island", edited))
    second = sitegraph.run(source, folder)
    now = pages(assert_equals_clean_rebuild(sitegraph, source, folder), "island.epub")

    assert (second["documents"]["changed"], second["chunks"]["embedded"]) == (1, 1)
    assert {title: row["id"] for title, row in now.items()} == {
        title: row["id"] for title, row in before.items()
    }
    assert {title for title in now if now[title]["content_hash"] != before[title]["content_hash"]} == {
        "The island", "Bells in fog",
    }  # fmt: skip


def test_a_lost_ledger_learns_of_books_and_of_no_chapters(
    sitegraph: Sitegraph, source: Path, folder: Path
) -> None:
    before = sitegraph.export(folder)
    for path in folder.glob(f"{IndexLayout(folder).ledger.name}*"):
        path.unlink()

    report = sitegraph.run(source, folder)

    assert (report["chunks"]["embedded"], report["documents"]["gone"]) == (0, 0)
    assert sitegraph.export(folder) == before
    assert sitegraph.damage(folder) == ()


def test_a_dropped_source_leaves_nothing_of_its_books(
    sitegraph: Sitegraph, folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.yaml"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "one.md").write_text("# One\n\nThe gate is locked at night.\n")
    other.write_text("name: other\nkind: files\nroots: [other]\n")
    sitegraph.run(other, folder)

    sitegraph.drop("books", folder)

    left = sitegraph.export(folder)
    assert {row["title"] for row in left["nodes"] if row["kind"] == "Page"} == {"One"}
    assert {row["source"] for rows in left.values() for row in rows} <= {"other", ""}
    assert sitegraph.damage(folder) == ()


def test_an_answer_names_the_chapter_and_opens_it(sitegraph: Sitegraph, shelf: Path) -> None:
    folder = shelf / "index"
    chapters = pages(sitegraph.export(folder), "island.epub")

    told = sitegraph.call(
        "query", "How often is the bell rung in fog?", "--index", str(folder), "--format", "json"
    )
    bundle = json.loads(told.stdout)
    around = sitegraph.call(
        "graph", chapters["Bells in fog"]["id"], "--index", str(folder), "--format", "json", "--hops", "1"
    )

    first = bundle["evidence"][0]
    assert (first["file_path"], first["heading_path"]) == ("island.epub", ["Bells in fog"])
    assert first["fragment"].startswith(chapters["Bells in fog"]["fragment"].removesuffix(")"))
    trails = {summary["node"]: summary["breadcrumbs"] for summary in bundle["summaries"]}
    assert trails[chapters["The island"]["id"]] == ["The island"]
    assert trails[chapters["Bells in fog"]["id"]] == ["The island", "Bells in fog"]
    shown = {node["label"]: node["place"] for node in json.loads(around.stdout)["nodes"]}
    assert shown["Oil"] == f"island.epub#{chapters['Oil']['fragment']}"
    assert shown["The island"] == "island.epub"


@pytest.mark.neo4j
@pytest.mark.long
def test_books_in_neo4j_are_the_same_and_people_see_their_chapters(
    sitegraph: Sitegraph,
    on_neo4j: Sitegraph,
    neo4j_server: Neo4jServer,
    index: Path,
    source: Path,
    folder: Path,
) -> None:
    on_neo4j.run(source, index, graph="neo4j")

    assert on_neo4j.export(index) == sitegraph.export(folder)
    assert on_neo4j.damage(index) == ()
    kinds = exported(on_neo4j, index)
    assert seen(neo4j_server, index, kinds) == kinds
    assert kinds[0]["Page"] == 3 + 3 + 3
