"""Rows that documents should have, against the rows that a store contains for them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from schemas.changes import RowChanges
from schemas.documents import LiveDocument
from schemas.edges import Edge
from schemas.nodes import OBSERVED_FIELDS, TIMES, Chunk, Node, Page, PdfDoc, is_document


class _Row(Protocol):
    @property
    def id(self) -> str: ...


R = TypeVar("R", bound=_Row)


def diff_rows(
    desired: Iterable[R], current: Iterable[R], *, same: Callable[[R, R], bool] = lambda a, b: a == b
) -> tuple[tuple[R, ...], tuple[str, ...]]:
    """Return the rows to upsert and the ids to delete, each in id order."""
    held = {row.id: row for row in current}
    wanted = {row.id: row for row in desired}
    upserts = [row for id_, row in sorted(wanted.items()) if id_ not in held or not same(row, held[id_])]
    return tuple(upserts), tuple(sorted(held.keys() - wanted.keys()))


def diff_chunks(
    desired: Sequence[Chunk], current: Sequence[Chunk], *, changed_at: str
) -> tuple[tuple[Chunk, ...], tuple[str, ...], int]:
    """Return chunks to upsert, ids to delete, and how many of the upserts are new.

    A chunk whose text stays keeps the times it was first observed with; they alone are no change. Its
    document's date is one: what readers filter by must be the same for all of a document.
    """
    held = {chunk.id: chunk for chunk in current}
    stamped = [stamp(chunk, held.get(chunk.id), changed_at=changed_at) for chunk in desired]
    upserts, deletes = diff_rows(stamped, current)
    return upserts, deletes, sum(chunk.id not in held for chunk in upserts)


def stamp(chunk: Chunk, held: Chunk | None, *, changed_at: str) -> Chunk:
    """Set the times: those of the stored chunk of equal content, else this run's."""
    if held is None or held.content_hash != chunk.content_hash:
        return replace(chunk, changed_at=changed_at)
    return replace(chunk, **{name: getattr(held, name) for name in TIMES})


Observed = tuple[str, Mapping[str, str | None]]
"""Hash of a chunk's content, and the times it was first observed with."""


def observed_of(chunk: Chunk) -> Observed:
    """What is kept of a chunk whose row is written again."""
    return chunk.content_hash, {name: getattr(chunk, name) for name in OBSERVED_FIELDS}


def as_observed(chunks: Iterable[Chunk], known: Mapping[str, Observed]) -> tuple[Chunk, ...]:
    """Return chunks the times that are known of equal content; the others stay as they are."""
    return tuple(
        replace(chunk, **known[chunk.id][1])  # type: ignore[arg-type]
        if chunk.id in known and known[chunk.id][0] == chunk.content_hash
        else chunk
        for chunk in chunks
    )


def mark(node: Node, live: LiveDocument) -> Node:
    """Set what a parser cannot know of a document: its date, if it is stale, and what else leads to it.

    A chapter is as stale and as old as its book; other addresses lead to the book.
    """
    if not isinstance(node, Page | PdfDoc):
        return node
    return replace(
        node,
        last_modified=live.last_modified,
        last_modified_origin=live.last_modified_origin,
        stale=live.stale,
        aliases=live.aliases if is_document(node) else (),
    )


def row_changes(
    *,
    nodes: tuple[Sequence[Node], Sequence[Node]],
    edges: tuple[Sequence[Edge], Sequence[Edge]],
    chunks: tuple[Sequence[Chunk], Sequence[Chunk]],
    changed_at: str,
) -> RowChanges:
    """Compare (desired, current) of each table; both must cover the same documents."""
    node_upserts, node_deletes = diff_rows(*nodes)
    edge_upserts, edge_deletes = diff_rows(*edges)
    chunk_upserts, chunk_deletes, added = diff_chunks(*chunks, changed_at=changed_at)
    return RowChanges(
        nodes=node_upserts,
        node_deletes=node_deletes,
        edges=edge_upserts,
        edge_deletes=edge_deletes,
        chunks=chunk_upserts,
        chunk_deletes=chunk_deletes,
        chunks_added=added,
    )
