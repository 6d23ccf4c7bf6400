"""A program that follows the feed over an edit, an addition, a removal and a move; and what `why` tells."""

from pathlib import Path
from typing import Any

import pytest

from flows.run.opening import open_existing
from indexes.changes import read_changes
from runtime.settings import read_settings
from schemas.changes import FeedChange, FeedEntry, FeedKind
from sitegraph.actions.explain import explain
from tests.fakes.handbook import Handbook, path_of, topic_article, write_source
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = pytest.mark.server


def follow(copy: set[str], entries: tuple[FeedEntry, ...], kind: FeedKind) -> set[str]:
    """What the program holds afterwards."""
    held = set(copy)
    for entry in entries:
        if entry.kind is kind:
            held -= {entry.old_id}
            held |= {entry.new_id} - {None}
    return held


def ids(sitegraph: Sitegraph, index: Path, what: str, **options: Any) -> set[str]:
    return {row["id"] for row in sitegraph.export(index, **options)[what]}


def change_everything(handbook: Handbook) -> None:
    """Edit a page, add one, take one away, and rename one behind a redirect."""
    handbook.edit(path_of("Leases"), "Losing Leases", "Whoever loses a lease pays the porter a silver coin.")
    handbook.write("/archives.html", topic_article("Archives"))
    handbook.link(path_of("Guards"), "/archives.html", "the archives")
    handbook.remove(path_of("Tokens"), status=410)
    article = handbook.articles[path_of("Readers")]
    handbook.write("/people.html", article)
    handbook.redirect(path_of("Readers"), "/people.html")


@pytest.mark.dear("a run for each change, and a copy after each")
def test_a_copy_that_follows_the_feed_is_what_readers_see(
    sitegraph: Sitegraph, handbook: Handbook, tmp_path: Path
) -> None:
    source, index = write_source(tmp_path, handbook), tmp_path / "index"
    sitegraph.run(source, index)
    chunks, documents = ids(sitegraph, index, "chunks"), ids(sitegraph, index, "documents")
    first = read_changes(index, since=0)
    change_everything(handbook)
    # Two of ten pages go, and the guard lets no more than that go.
    assert sitegraph.run(source, index, accept=True)["generation"] == 2

    feed = read_changes(index, since=1)

    assert follow(set(), first.entries, FeedKind.CHUNK) == chunks
    assert follow(chunks, feed.entries, FeedKind.CHUNK) == ids(sitegraph, index, "chunks")
    assert follow(documents, feed.entries, FeedKind.DOCUMENT) == ids(sitegraph, index, "documents")
    said = {
        (entry.change.value, entry.uri.removeprefix(handbook.site.origin))
        for entry in feed.entries
        if entry.kind is FeedKind.DOCUMENT and entry.change is not FeedChange.REFRESHED
    }
    assert {
        ("replaced", "/leases.html"),
        ("added", "/archives.html"),
        ("removed", "/tokens.html"),
        ("moved", "/people.html"),
    } <= said
    edited = [e for e in feed.entries if e.uri.endswith("/leases.html") and e.kind is FeedKind.CHUNK]
    assert [e.change.value for e in edited if e.change is not FeedChange.REFRESHED] == ["replaced"]
    moved = {e.change for e in feed.entries if e.uri.endswith("/people.html") and e.kind is FeedKind.CHUNK}
    assert FeedChange.MOVED in moved
    assert FeedChange.ADDED not in moved
    people, batches = told(index, handbook, "/people.html"), told(index, handbook, "/batches.html")
    assert [step["how"] for step in people["found"]] == ["redirect", "link", "seed"]
    assert people["aliases"] == [handbook.site.url("/readers.html")]
    assert people["index"]["generations"] == [[2, 2]]
    assert people["index"]["chunks"] > 0
    assert [entry["event"] for entry in people["history"]] == ["found", "looked", "parsed"]
    looks = [(e["http_status"], e["conditional"]) for e in batches["history"] if e["event"] == "looked"]
    assert looks == [(200, False), (304, True)]


def told(index: Path, handbook: Handbook, path: str) -> dict[str, Any]:
    """What is known of a page."""
    opened = open_existing(read_settings(str(index)))
    try:
        (document,) = explain(opened, handbook.site.url(path))["documents"]
    finally:
        opened.close()
    return dict(document)
