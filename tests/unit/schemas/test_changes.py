"""Counts that add up, and changes that know their document."""

import pytest

from schemas.changes import ChangeKind, Counts, DocumentChange, RowChanges, add_counts
from schemas.documents import LiveDocument
from tests.fakes.graph_samples import make_chunk


def live(doc: str, uri: str) -> LiveDocument:
    return LiveDocument(doc=doc, source="site", uri=uri, fragment_sha="f", content_hash="c")


@pytest.mark.parametrize(
    ("left", "right", "total"),
    [
        ({}, {}, {}),
        ({"chunks": {"html": 2}}, {"chunks": {"html": 3, "pdf": 1}}, {"chunks": {"html": 5, "pdf": 1}}),
        ({"chunks": {"html": 2}}, {"chunks": {"html": -2}}, {"chunks": {}}),
        ({"nodes": {"Page": 1}}, {"edges": {"next": 1}}, {"edges": {"next": 1}, "nodes": {"Page": 1}}),
    ],
)
def test_counts_add_up_and_nothing_is_left_out_but_zero(left: Counts, right: Counts, total: Counts) -> None:
    assert add_counts(left, right) == add_counts(right, left) == total


def test_a_change_speaks_of_the_document_as_it_will_be() -> None:
    old, new = live("page:1", "https://h.example/a"), live("page:1", "https://h.example/b")
    changed = DocumentChange(kind=ChangeKind.CHANGED, old=old, new=new)
    removed = DocumentChange(kind=ChangeKind.REMOVED, old=old, new=None)
    assert (changed.uri, removed.uri, removed.doc) == (new.uri, old.uri, "page:1")


def test_a_change_of_no_document_is_none() -> None:
    with pytest.raises(ValueError, match="before or after"):
        _ = DocumentChange(kind=ChangeKind.ADDED, old=None, new=None).doc


@pytest.mark.parametrize(
    ("changes", "any_"),
    [
        (RowChanges(), False),
        (RowChanges(chunks_added=1), False),
        (RowChanges(chunks=(make_chunk("a"),)), True),
        (RowChanges(node_deletes=("page:1",)), True),
        (RowChanges(edge_deletes=("edge:1",)), True),
        (RowChanges(chunk_deletes=("chunk:1",)), True),
    ],
)
def test_row_changes_are_true_exactly_when_there_is_something_to_write(
    changes: RowChanges, any_: bool
) -> None:
    assert bool(changes) is any_
