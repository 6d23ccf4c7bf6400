"""Links that most pages of a source repeat are navigation, however the index came to hold those pages."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.link.links import LEAST_PAGES
from schemas.edges import EdgeKind, LinkPosition
from tests.fakes.written_index import WrittenIndex, content_of, note, open_written_index

Notes = dict[str, str | None]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[WrittenIndex]:
    with open_written_index(tmp_path / "index") as opened:
        yield opened


def page(number: int, *, of: int, links: str = "") -> str:
    """Write a page of a chain, each of which leads to the next in words that all of them use."""
    return note(f"Harbour {number}", f"Berth {number} is dry. {links}\n\n[Onward](p{(number + 1) % of}.md)")


def chain(pages: int) -> Notes:
    return {f"p{number}.md": page(number, of=pages) for number in range(pages)}


def positions(index: WrittenIndex) -> dict[str, set[LinkPosition | None]]:
    found: dict[str, set[LinkPosition | None]] = {}
    for edge in index.edges(EdgeKind.LINKS_TO):
        found.setdefault(edge.anchor_text or "", set()).add(edge.position)
    return found


def assert_equals_clean_build(index: WrittenIndex, folder: Path, notes: Notes) -> None:
    with open_written_index(folder) as clean:
        clean.publish({path: text for path, text in notes.items() if text is not None})
        assert content_of(index) == content_of(clean)


def test_a_link_on_most_pages_is_navigation_and_others_stay_in_the_body(index: WrittenIndex) -> None:
    notes = chain(LEAST_PAGES)
    notes["p0.md"] = page(0, of=LEAST_PAGES, links="See [the quay](p3.md).")
    index.publish(notes)
    assert positions(index) == {"Onward": {LinkPosition.NAV}, "the quay": {LinkPosition.BODY}}


def test_pages_that_come_make_a_link_of_the_others_navigation(index: WrittenIndex, tmp_path: Path) -> None:
    notes = chain(LEAST_PAGES)
    *first, last = notes
    index.publish({path: notes[path] for path in first})
    assert positions(index) == {"Onward": {LinkPosition.BODY}}

    index.publish({last: notes[last]})

    assert positions(index) == {"Onward": {LinkPosition.NAV}}
    assert set(first) <= {live.uri.rpartition("/")[2] for live in index.notes.values()}
    assert_equals_clean_build(index, tmp_path / "clean", notes)


def test_pages_that_go_or_change_make_it_a_link_of_the_body_again(
    index: WrittenIndex, tmp_path: Path
) -> None:
    notes = chain(LEAST_PAGES)
    index.publish(notes)
    notes["p1.md"] = note("Harbour 1", "Berth 1 is dry. [Ahead](p2.md)")

    index.publish({"p1.md": notes["p1.md"]})

    assert positions(index) == {"Onward": {LinkPosition.BODY}, "Ahead": {LinkPosition.BODY}}
    assert_equals_clean_build(index, tmp_path / "clean", notes)


def test_pages_that_go_leave_a_small_site_without_navigation(index: WrittenIndex, tmp_path: Path) -> None:
    notes = chain(LEAST_PAGES + 1)
    index.publish(notes)
    gone: Notes = {"p2.md": None, "p3.md": None}

    index.publish(gone)

    assert positions(index) == {"Onward": {LinkPosition.BODY}}
    assert_equals_clean_build(index, tmp_path / "clean", {**notes, **gone})


def test_pages_of_another_source_do_not_count(index: WrittenIndex) -> None:
    half = LEAST_PAGES // 2
    index.publish(chain(half), source="north")
    index.publish(chain(LEAST_PAGES - half), source="south")
    assert positions(index) == {"Onward": {LinkPosition.BODY}}


def test_only_the_documents_with_such_a_link_are_linked_again(index: WrittenIndex) -> None:
    notes = chain(LEAST_PAGES)
    notes["plain.md"] = note("Plain", "See [the quay](p3.md).")
    *first, last = [path for path in notes if path != "plain.md"]
    index.publish({path: notes[path] for path in (*first, "plain.md")})

    index.publish({last: notes[last]})

    assert index.notes["notes", "plain.md"].doc not in index.linked
    assert {index.notes["notes", path].doc for path in first} <= set(index.linked)
