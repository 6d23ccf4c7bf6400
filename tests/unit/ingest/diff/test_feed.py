"""What the change feed says: replaced under equal headings, moved with the document, else added, removed."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest

from ingest.diff.feed import (
    FeedPlan,
    document_moves,
    document_steps,
    plan_chunk_feed,
    plan_document_feed,
    reason_of,
    tool_steps,
)
from ingest.diff.rows import diff_chunks
from schemas.changes import ChangeKind, DocumentChange, FeedChange, FeedEntry, FeedKind, RowChanges
from schemas.documents import LiveDocument
from schemas.ids import page_id
from schemas.nodes import Chunk
from tests.fakes.graph_samples import make_chunk, make_page, make_tool

A, B, C = (f"https://site.test/{name}" for name in "abc")
Row = tuple[str, str | None, str | None]


def live(uri: str, content: str = "c", **fields: object) -> LiveDocument:
    plain = {"doc": page_id(uri), "source": "site", "uri": uri, "fragment_sha": "f", "content_hash": content}
    return LiveDocument(**{**plain, **fields})  # type: ignore[arg-type]


def change(
    kind: ChangeKind, uri: str, content: str = "c", reason: str = "", **fields: object
) -> DocumentChange:
    document = live(uri, content, **fields)
    old = None if kind is ChangeKind.ADDED else document
    return DocumentChange(
        kind=kind, old=old, new=None if kind is ChangeKind.REMOVED else document, reason=reason
    )


def chunks(uri: str, *texts: str, heading: str = "Guide") -> list[Chunk]:
    return [
        make_chunk(text, uri=uri, ordinal=place, heading_path=(heading,)) for place, text in enumerate(texts)
    ]


def feed(
    held: Sequence[Chunk],
    wanted: Sequence[Chunk],
    changes: Iterable[DocumentChange] = (),
    redirects: dict[str, str] | None = None,
) -> list[FeedEntry]:
    upserts, deletes, _ = diff_chunks(wanted, held, changed_at="2026-03-01")
    plan = FeedPlan(changes, redirects or {})
    uris = {chunk.doc: chunk.url or "" for chunk in (*held, *wanted)}
    plan.add(document_steps(held, RowChanges(chunks=upserts, chunk_deletes=deletes), uris=uris))
    return list(plan.entries())


def said(entries: Iterable[FeedEntry], held: Sequence[Chunk], wanted: Sequence[Chunk]) -> list[Row]:
    """Change and texts, of chunks."""
    texts = {chunk.id: chunk.text for chunk in (*held, *wanted)}
    return [
        (e.change.value, e.old_id and texts[e.old_id], e.new_id and texts[e.new_id])
        for e in entries
        if e.kind == "chunk"
    ]


@pytest.mark.parametrize(
    ("before", "after", "rows"),
    [
        (["x"], ["y"], [("replaced", "x", "y")]),
        (["x", "y"], ["u", "v"], [("replaced", "x", "u"), ("replaced", "y", "v")]),
        (["x", "y"], ["u"], [("replaced", "x", "u"), ("removed", "y", None)]),
        (["x"], ["u", "v"], [("replaced", "x", "u"), ("added", None, "v")]),
        (["x", "y"], ["x"], [("removed", "y", None)]),
        (["x"], ["x", "y"], [("added", None, "y")]),
        (["y"], ["x", "y"], [("added", None, "x"), ("refreshed", "y", "y")]),
        (["x"], ["x"], []),
    ],
)
def test_under_one_heading_texts_are_replaced_in_reading_order(
    before: list[str], after: list[str], rows: list[Row]
) -> None:
    held, wanted = chunks(A, *before), chunks(A, *after)
    assert said(feed(held, wanted), held, wanted) == rows


def test_under_another_heading_a_text_goes_and_comes() -> None:
    held, wanted = chunks(A, "x"), chunks(A, "x", heading="Other")
    assert said(feed(held, wanted), held, wanted) == [("removed", "x", None), ("added", None, "x")]


def test_texts_of_different_documents_are_never_paired() -> None:
    held, wanted = chunks(A, "x"), chunks(B, "x")
    assert sorted(said(feed(held, wanted), held, wanted), key=str) == [
        ("added", None, "x"),
        ("removed", "x", None),
    ]


def test_of_a_document_that_moved_equal_texts_are_moved_and_the_rest_is_paired() -> None:
    held, wanted = chunks(A, "x", "y", "z"), chunks(B, "y", "u")
    changes = [change(ChangeKind.REMOVED, A, reason="HTTP 301"), change(ChangeKind.ADDED, B, "other")]
    entries = feed(held, wanted, changes, {A: B})

    assert said(entries, held, wanted) == [
        ("moved", "y", "y"),
        ("replaced", "x", "u"),
        ("removed", "z", None),
    ]
    document = entries[0]
    assert (document.change, document.old_id, document.new_id) == ("moved", page_id(A), page_id(B))
    assert (document.uri, document.reason) == (B, f"moved from {A}")
    assert [entry.uri for entry in entries] == [B, B, B, A]
    assert len(entries) == 4


@pytest.mark.parametrize(
    ("successor", "came", "redirects", "moved"),
    [
        (None, ChangeKind.ADDED, {}, False),
        (page_id(B), ChangeKind.ADDED, {}, True),
        (page_id(B), ChangeKind.CHANGED, {}, False),
        (page_id(C), ChangeKind.ADDED, {A: B}, False),
        (None, ChangeKind.ADDED, {A: B}, True),
        (None, ChangeKind.ADDED, {A: C}, False),
        (None, ChangeKind.CHANGED, {A: B}, False),
    ],
)
def test_a_document_moved_where_its_content_is_or_its_address_leads(
    successor: str | None, came: ChangeKind, redirects: dict[str, str], moved: bool
) -> None:
    gone = replace(change(ChangeKind.REMOVED, A), successor=successor)
    assert (gone.doc in document_moves([gone, change(came, B)], redirects)) is moved


def test_two_documents_do_not_move_to_one_place() -> None:
    first, second = (replace(change(ChangeKind.REMOVED, uri), successor=page_id(C)) for uri in (A, B))
    changes = [second, first, change(ChangeKind.ADDED, C)]
    assert document_moves(changes, {}) == {page_id(A): changes[2]}
    assert document_moves(reversed(changes), {}) == {page_id(A): changes[2]}


@pytest.mark.parametrize(
    ("kind", "word", "old", "new"),
    [
        (ChangeKind.ADDED, "added", None, page_id(A)),
        (ChangeKind.CHANGED, "replaced", page_id(A), page_id(A)),
        (ChangeKind.REFRESHED, "refreshed", page_id(A), page_id(A)),
        (ChangeKind.REMOVED, "removed", page_id(A), None),
    ],
)
def test_a_document_has_one_entry_with_its_reason(
    kind: ChangeKind, word: str, old: str | None, new: str | None
) -> None:
    (entry,) = plan_document_feed([change(kind, A, reason="because")], {})
    assert (entry.change, entry.old_id, entry.new_id, entry.reason) == (word, old, new, "because")
    assert reason_of(change(kind, A)) != ""


def test_chunks_of_a_document_that_goes_have_its_reason() -> None:
    gone = change(ChangeKind.REMOVED, A, reason="HTTP 410")
    assert {entry.reason for entry in feed(chunks(A, "x"), [], [gone])} == {"HTTP 410"}


def test_a_step_names_the_source_and_address_of_its_document() -> None:
    (step,) = document_steps(
        [replace(chunk, source="wiki") for chunk in chunks(A, "x")],
        RowChanges(chunk_deletes=tuple(chunk.id for chunk in chunks(A, "x"))),
        uris={page_id(A): A},
    )
    (entry,) = plan_chunk_feed(step, None)
    assert (entry.source, entry.uri) == ("wiki", A)


def test_tools_come_go_and_are_described_otherwise_and_their_file_is_no_document() -> None:
    kept, gone, new = (make_tool(name) for name in ("kept", "gone", "new"))
    uri = "tools://site/tools.yaml"
    rows = RowChanges(nodes=(replace(kept, description="Otherwise."), new), node_deletes=(gone.id,))
    steps = tool_steps([kept, gone, make_page(A)], rows, uris={kept.doc: uri})
    plan = FeedPlan([replace(change(ChangeKind.CHANGED, uri), reason="x")], {})
    plan.add(steps)

    assert {(entry.kind, entry.change, entry.old_id, entry.new_id) for entry in plan.entries()} == {
        (FeedKind.TOOL, FeedChange.ADDED, None, new.id),
        (FeedKind.TOOL, FeedChange.REFRESHED, kept.id, kept.id),
        (FeedKind.TOOL, FeedChange.REMOVED, gone.id, None),
    }
    assert {(entry.source, entry.uri) for entry in plan.entries()} == {("site", uri)}
