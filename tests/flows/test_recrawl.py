"""Recrawls: what did not change costs nothing, what changed is all that is written."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.fakes.handbook import Handbook, path_of, topic_article, write_source
from tests.fakes.site_server import Reply
from tests.fakes.sitegraph_runs import Sitegraph, assert_equals_clean_rebuild, outcomes

pytestmark = pytest.mark.server


def lance_files(index: Path) -> dict[str, str]:
    """Hash of every file of the stores."""
    files = [path for path in (index / "lance").rglob("*") if path.is_file()]
    assert files
    return {str(path.relative_to(index)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_same_site_again_writes_nothing(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    before = lance_files(index)

    report = sitegraph.run(source, index)

    assert report["generation"] is None
    assert not report["published"]
    assert outcomes(report) == {"unchanged": 10}
    assert report["documents"]["not_modified"] == 10
    assert report["http"]["requests"] >= 10
    assert report["http"]["status"]["304"] == 10
    assert report["chunks"]["embedded"] == 0
    assert lance_files(index) == before
    assert sorted(handbook.asked()) == sorted(handbook.articles)


def test_another_footer_is_no_change(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    before = lance_files(index)
    handbook.set_footer("Printed on the second of May at 12:34:56")

    report = sitegraph.run(source, index)

    assert report["documents"]["fetched"] == 10
    assert outcomes(report) == {"unchanged": 10}
    assert report["generation"] is None
    assert lance_files(index) == before


def test_an_edited_passage_changes_its_own_chunk_alone(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    before = {row["id"]: row for row in sitegraph.export(index)["chunks"]}
    handbook.edit(path_of("Leases"), "Losing Leases", "Whoever loses a lease pays the porter a silver coin.")

    report = sitegraph.run(source, index)

    after = {row["id"]: row for row in assert_equals_clean_rebuild(sitegraph, source, index)["chunks"]}
    (new,) = after.keys() - before.keys()
    (old,) = before.keys() - after.keys()
    assert "silver coin" in after[new]["text"]
    assert all(after[id_] == before[id_] for id_ in after.keys() & before.keys())
    assert report["generation"] == 2
    assert outcomes(report) == {"changed": 1, "unchanged": 9}
    assert report["chunks"] == {"added": 1, "removed": 1, "unchanged": len(after) - 1, "embedded": 1}
    assert before[old]["section_id"] == after[new]["section_id"]


def test_a_page_that_came_is_linked_from_pages_that_stayed(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    """The start page links to a page that does not exist yet; later it does, and nothing else changes."""
    handbook.link("/index.html", "/archives.html", "the archives")
    missing = sitegraph.run(source, index)
    handbook.write("/archives.html", topic_article("Archives"))

    report = sitegraph.run(source, index)

    exported = assert_equals_clean_rebuild(sitegraph, source, index)
    ids = {row["url"]: row["id"] for row in exported["documents"]}
    start, archives = ids[handbook.site.url("/index.html")], ids[handbook.site.url("/archives.html")]
    assert outcomes(missing) == {"changed": 1, "unchanged": 9, "dead_link": 1}
    assert outcomes(report) == {"added": 1, "unchanged": 10}
    assert (start, archives) in {(row["src"], row["dst"]) for row in exported["edges"]}
    texts = [row["anchor_texts"] for row in exported["chunks"] if row["doc"] == archives]
    assert ["the archives"] in texts


def test_removed_pages_stay_for_a_day_and_go_at_once_when_that_is_accepted(
    sitegraph: Sitegraph, handbook: Handbook, index: Path, tmp_path: Path
) -> None:
    source = write_source(tmp_path, handbook, more="recrawl: {gone_after: {misses: 2, hours: 24}}\n")
    path = path_of("Leases")
    handbook.remove(path)
    kept = sitegraph.run(source, index)
    assert kept["missing"]["documents"] == 1
    assert kept["missing"]["until"] > datetime.now(UTC).isoformat(timespec="seconds")
    assert handbook.site.url(path) in {row["url"] for row in sitegraph.export(index)["documents"]}

    taken = sitegraph.run(source, index, accept=True)

    assert (taken["missing"]["documents"], outcomes(taken)["gone"]) == (0, 1)
    assert handbook.site.url(path) not in {row["url"] for row in sitegraph.export(index)["documents"]}


def test_a_page_that_becomes_a_login_is_served_as_it_was_and_says_that_it_is_stale(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    before, page = sitegraph.export(index), handbook.site.pages["/tokens.html"]
    handbook.site.pages["/tokens.html"] = Reply(b"<html><h1>Sign in</h1><form><input type=password></form>")

    report = sitegraph.run(source, index)

    assert outcomes(report) == {"quarantined": 1, "unchanged": 9}
    assert (report["generation"], report["chunks"]["embedded"]) == (2, 0)
    assert {p["reason"] for p in report["problems"]} == {"quarantined: a login page"}
    assert sitegraph.export(index) == before, "what it says is as it was"
    passages = sum(row["url"] == handbook.site.url("/tokens.html") for row in before["chunks"])
    assert stale_rows(sitegraph, index) == {"documents": 1, "nodes": 1, "chunks": passages}
    assert sitegraph.damage(index) == ()
    handbook.site.pages["/tokens.html"] = page
    assert outcomes(sitegraph.run(source, index)) == {"unchanged": 10}
    assert stale_rows(sitegraph, index) == {}


def stale_rows(sitegraph: Sitegraph, index: Path) -> dict[str, int]:
    """How many rows of each table say that they are stale."""
    exported = sitegraph.export(index, stable=False)
    marked = {table: sum(row.get("stale", False) for row in rows) for table, rows in exported.items()}
    return {table: number for table, number in marked.items() if number}


def test_another_doc_type_reaches_every_chunk_without_a_full_answer(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    write_source(source.parent, handbook, more="metadata: {doc_type: governance}\n")

    report = sitegraph.run(source, index)

    assert report["http"]["status"] == {"304": 10, "404": report["http"]["status"]["404"]}
    assert report["chunks"]["embedded"] == 0
    exported = assert_equals_clean_rebuild(sitegraph, source, index)
    assert {row["doc_type"] for row in exported["chunks"]} == {"governance"}


def test_a_page_that_turns_noindex_keeps_its_node_and_loses_its_text(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    address = handbook.site.url(path_of("Tokens"))
    head = "<html><head><meta name='robots' content='noindex'></head>"
    handbook.site.pages[path_of("Tokens")] = Reply(f"{head}<body><h1>Tokens</h1><p>Gone.</p>".encode())

    report = sitegraph.run(source, index)

    exported = assert_equals_clean_rebuild(sitegraph, source, index)
    (document,) = (row["id"] for row in exported["documents"] if row["url"] == address)
    assert outcomes(report) == {"changed": 1, "unchanged": 9}
    assert document not in {row["doc"] for row in exported["chunks"]}
    assert [row["kind"] for row in exported["nodes"] if row["doc"] == document] == ["Page"]


def test_due_looks_only_at_what_is_due(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    report = sitegraph.run(source, index, due=True)

    assert handbook.asked() == []
    assert report["documents"]["scheduled"] == 0
    assert report["generation"] is None
