"""Laws of the change feed: applied to a copy of one generation it gives the next, each thing said once."""

from collections.abc import Iterable, Mapping
from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ingest.diff.feed import FeedPlan, document_steps
from ingest.diff.rows import diff_chunks
from schemas.changes import ChangeKind, DocumentChange, FeedChange, FeedEntry, FeedKind, RowChanges
from schemas.documents import LiveDocument
from schemas.ids import chunk_id, page_id
from schemas.nodes import Chunk
from tests.fakes.graph_samples import make_chunk

Site = Mapping[str, tuple[tuple[str, str], ...]]
"""Passages, as heading and text, by page."""

pages = st.sampled_from([f"https://site.test/{name}" for name in "abcd"])
passages = st.lists(st.tuples(st.sampled_from("HIJ"), st.sampled_from("uvwxyz")), max_size=6).map(tuple)
sites: st.SearchStrategy[Site] = st.dictionaries(pages, passages, max_size=4)
redirects = st.dictionaries(pages, pages, max_size=2)

BEFORE: Site = {"https://site.test/a": (("H", "u"), ("I", "v"))}
AFTER: Site = {"https://site.test/b": (("H", "w"), ("I", "v"))}
LED = {"https://site.test/a": "https://site.test/b"}
"""A page that moved: what stood under H is replaced, what stands under I came with it."""


def chunks_of(site: Site) -> list[Chunk]:
    """The chunks of all pages; equal passages of a page are numbered."""
    chunks: list[Chunk] = []
    for uri, passages in sorted(site.items()):
        for ordinal, (heading, text) in enumerate(passages):
            occurrence = passages[:ordinal].count((heading, text))
            id_ = chunk_id(page_id(uri), (heading,), text, occurrence)
            chunks.append(make_chunk(text, uri=uri, ordinal=ordinal, heading_path=(heading,), id=id_))
    return chunks


def changes_between(before: Site, after: Site) -> list[DocumentChange]:
    """The documents' changes, in id order."""
    changes = []
    for uri in sorted({*before, *after}, key=page_id):
        old, new = (live(uri, site[uri]) if uri in site else None for site in (before, after))
        if old != new:
            kind = ChangeKind.CHANGED
            if old is None or new is None:
                kind = ChangeKind.ADDED if old is None else ChangeKind.REMOVED
            changes.append(DocumentChange(kind=kind, old=old, new=new))
    return changes


def live(uri: str, passages: tuple[tuple[str, str], ...]) -> LiveDocument:
    content = repr(passages)
    return LiveDocument(doc=page_id(uri), source="site", uri=uri, fragment_sha=content, content_hash=content)


def feed(before: Site, after: Site, led: Mapping[str, str], *, parts: int) -> tuple[FeedEntry, ...]:
    """The feed from one site to the next, its documents taken in in several parts."""
    changes = changes_between(before, after)
    plan = FeedPlan(changes, led)
    uris = sorted({*before, *after})
    for start in range(0, len(uris), parts):
        part = set(uris[start : start + parts])
        held, wanted = (chunks_of({u: p for u, p in site.items() if u in part}) for site in (before, after))
        upserts, deletes, _ = diff_chunks(wanted, held, changed_at="2026-03-01")
        rows = RowChanges(chunks=upserts, chunk_deletes=deletes)
        plan.add(document_steps(held, rows, uris={page_id(uri): uri for uri in part}))
    return plan.entries()


def apply(copy: set[str], entries: Iterable[FeedEntry], kind: FeedKind) -> set[str]:
    """What a program holds that follows the feed, entry by entry."""
    held = set(copy)
    for entry in entries:
        if entry.kind is kind:
            if entry.old_id is not None:
                held.remove(entry.old_id)
            if entry.new_id is not None:
                assert entry.new_id not in held
                held.add(entry.new_id)
    return held


@settings(deadline=None)
@given(st.lists(sites, min_size=2, max_size=5), redirects, st.integers(1, 4))
def test_a_copy_that_follows_the_feed_holds_exactly_what_the_last_generation_holds(
    history: list[Site], led: dict[str, str], parts: int
) -> None:
    chunks = {chunk.id for chunk in chunks_of(history[0])}
    documents = {page_id(uri) for uri in history[0]}
    for before, after in pairwise(history):
        entries = feed(before, after, led, parts=parts)
        chunks = apply(chunks, entries, FeedKind.CHUNK)
        documents = apply(documents, entries, FeedKind.DOCUMENT)
    assert chunks == {chunk.id for chunk in chunks_of(history[-1])}
    assert documents == {page_id(uri) for uri in history[-1]}


@settings(deadline=None)
@given(sites, sites, redirects)
def test_every_id_goes_once_and_comes_once_and_its_change_fits_its_ids(
    before: Site, after: Site, led: dict[str, str]
) -> None:
    entries = feed(before, after, led, parts=2)
    for ids in ([e.old_id for e in entries if e.old_id], [e.new_id for e in entries if e.new_id]):
        assert len(ids) == len(set(ids))
    for entry in entries:
        assert (entry.old_id is None) == (entry.change is FeedChange.ADDED)
        assert (entry.new_id is None) == (entry.change is FeedChange.REMOVED)
        assert (entry.old_id == entry.new_id) == (
            entry.change is FeedChange.REFRESHED
            or (entry.kind is FeedKind.DOCUMENT and entry.change is FeedChange.REPLACED)
        )
        assert entry.reason


def test_the_example_has_a_chunk_that_is_replaced_and_one_that_moves() -> None:
    changes = [one.change for one in feed(BEFORE, AFTER, LED, parts=3) if one.kind is FeedKind.CHUNK]
    assert sorted(changes) == [FeedChange.MOVED, FeedChange.REPLACED]


@settings(deadline=None)
@given(sites, sites, redirects)
@example(BEFORE, AFTER, LED)
def test_replaced_chunks_share_headings_and_moved_ones_share_the_text(
    before: Site, after: Site, led: dict[str, str]
) -> None:
    old, new = ({chunk.id: chunk for chunk in chunks_of(site)} for site in (before, after))
    for entry in feed(before, after, led, parts=3):
        if entry.kind is FeedKind.CHUNK and entry.old_id and entry.new_id:
            was, is_ = old[entry.old_id], new[entry.new_id]
            if entry.change is FeedChange.MOVED:
                assert (was.content_hash, was.doc == is_.doc) == (is_.content_hash, False)
            else:
                assert was.heading_path == is_.heading_path


@settings(deadline=None)
@given(sites)
def test_nothing_changed_says_nothing(site: Site) -> None:
    assert feed(site, site, {}, parts=2) == ()
