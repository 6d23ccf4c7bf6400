"""What the change feed says of a generation, decided from its documents and chunks before and after."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ingest.urls import is_tools_url
from schemas.changes import ChangeKind, DocumentChange, FeedChange, FeedEntry, FeedKind, RowChanges
from schemas.nodes import Chunk, Node, Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedChunk:
    """What the feed needs of a chunk."""

    id: str
    heading_path: tuple[str, ...]
    content_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentStep:
    """One document's chunks that go, that come, and that stay with other fields, in reading order."""

    doc: str
    source: str
    uri: str
    gone: tuple[FeedChunk, ...] = ()
    came: tuple[FeedChunk, ...] = ()
    refreshed: tuple[str, ...] = ()
    tools: tuple[tuple[FeedChange, str], ...] = ()


def tool_steps(
    held: Iterable[Node], rows: RowChanges, *, uris: Mapping[str, str]
) -> tuple[DocumentStep, ...]:
    """Return the step of each file of tools, by node id; *held* are the nodes until now."""
    known = {node.id: node for node in held if isinstance(node, Tool)}
    changed = [
        *(
            (FeedChange.REFRESHED if node.id in known else FeedChange.ADDED, node)
            for node in rows.nodes
            if isinstance(node, Tool)
        ),
        *((FeedChange.REMOVED, known[id_]) for id_ in rows.node_deletes if id_ in known),
    ]
    return tuple(
        DocumentStep(
            doc=doc,
            source=next(tool.source for _, tool in changed if tool.doc == doc),
            uri=uris[doc],
            tools=tuple(sorted((change, tool.id) for change, tool in changed if tool.doc == doc)),
        )
        for doc in sorted({tool.doc for _, tool in changed})
    )


def document_steps(
    held: Sequence[Chunk], rows: RowChanges, *, uris: Mapping[str, str]
) -> tuple[DocumentStep, ...]:
    """Return the step of each document whose chunks change, by node id; *held* are its chunks until now."""
    known, deleted = {chunk.id for chunk in held}, frozenset(rows.chunk_deletes)
    gone = _by_document(chunk for chunk in held if chunk.id in deleted)
    came = _by_document(chunk for chunk in rows.chunks if chunk.id not in known)
    refreshed = _by_document(chunk for chunk in rows.chunks if chunk.id in known)
    return tuple(
        DocumentStep(
            doc=doc,
            source=(gone.get(doc) or came.get(doc) or refreshed[doc])[0].source,
            uri=uris[doc],
            gone=_feed_chunks(gone.get(doc, ())),
            came=_feed_chunks(came.get(doc, ())),
            refreshed=tuple(chunk.id for chunk in refreshed.get(doc, ())),
        )
        for doc in sorted({*gone, *came, *refreshed})
    )


def document_moves(
    changes: Iterable[DocumentChange], redirects: Mapping[str, str]
) -> dict[str, DocumentChange]:
    """Give, by the node id of a document that goes, the one that comes in its place.

    It has the content of the other, or stands where the other's address now leads: *redirects* gives where
    each ends. One that comes takes one place, that of the lowest URI.
    """
    changes = tuple(changes)
    free = {change.doc: change for change in changes if change.kind is ChangeKind.ADDED}
    by_uri = {change.uri: change.doc for change in free.values()}
    moves: dict[str, DocumentChange] = {}
    for gone in sorted((c for c in changes if c.kind is ChangeKind.REMOVED), key=lambda change: change.uri):
        place = gone.successor or by_uri.get(redirects.get(gone.uri, ""))
        if place in free:
            moves[gone.doc] = free.pop(place)
    return moves


class FeedPlan:
    """Gathers the feed of one generation, document by document, so that memory has no text."""

    def __init__(self, changes: Iterable[DocumentChange], redirects: Mapping[str, str]) -> None:
        self._changes = {change.doc: change for change in changes if not is_tools_url(change.uri)}
        self._moves = document_moves(self._changes.values(), redirects)
        self._moved = {move.doc for move in self._moves.values()} | self._moves.keys()
        self._aside: dict[str, DocumentStep] = {}
        self._entries: list[FeedEntry] = []

    def add(self, steps: Iterable[DocumentStep]) -> None:
        """Take in what happens to the chunks of some documents."""
        for step in steps:
            if step.tools:
                self._entries += _plan_tool_feed(step)
            elif step.doc in self._moved:
                self._aside[step.doc] = step
            else:
                self._entries += plan_chunk_feed(step, self._changes.get(step.doc))

    def entries(self) -> tuple[FeedEntry, ...]:
        """The whole feed: documents by node id, then chunks as they were taken in, moved ones last."""
        documents = plan_document_feed(self._changes.values(), self._moves)
        moved = (
            entry
            for old, change in sorted(self._moves.items())
            for entry in _plan_move_feed(self._aside.get(old), self._aside.get(change.doc))
        )
        return (*documents, *self._entries, *moved)


def plan_document_feed(
    changes: Iterable[DocumentChange], moves: Mapping[str, DocumentChange]
) -> Iterator[FeedEntry]:
    """Return an entry for each document that changed; one that moved has a single entry under its new id."""
    arrived = {move.doc for move in moves.values()}
    for change in sorted(changes, key=lambda change: change.doc):
        if change.doc in moves:
            new = moves[change.doc]
            yield _document(FeedChange.MOVED, change.doc, new.doc, new, f"moved from {change.uri}")
        elif change.doc not in arrived:
            old_id = change.doc if change.old else None
            new_id = change.doc if change.new else None
            yield _document(_DOCUMENT[change.kind], old_id, new_id, change, reason_of(change))


def plan_chunk_feed(step: DocumentStep, change: DocumentChange | None) -> Iterator[FeedEntry]:
    """Return the entries of a document that stays where it is, comes, or goes.

    What disappears and what appears under the same headings is one text replaced by another, in order.
    """
    whole = change is not None and change.kind in (ChangeKind.ADDED, ChangeKind.REMOVED)
    reason = reason_of(change) if change and whole else ""
    pairs, gone, came = _pair(step.gone, step.came, key=lambda chunk: chunk.heading_path)
    for old, new in pairs:
        yield _chunk(FeedChange.REPLACED, old.id, new.id, step, "other text under the same headings")
    for chunk in gone:
        yield _chunk(FeedChange.REMOVED, chunk.id, None, step, reason or "no longer in the document")
    for chunk in came:
        yield _chunk(FeedChange.ADDED, None, chunk.id, step, reason or "new in the document")
    for id_ in step.refreshed:
        yield _chunk(FeedChange.REFRESHED, id_, id_, step, "same text, other fields")


def _plan_tool_feed(step: DocumentStep) -> Iterator[FeedEntry]:
    """Return the entries of a file of tools."""
    for change, id_ in step.tools:
        old_id = None if change is FeedChange.ADDED else id_
        new_id = None if change is FeedChange.REMOVED else id_
        yield _tool(change, old_id, new_id, step, _TOOL[change])


def _plan_move_feed(old: DocumentStep | None, new: DocumentStep | None) -> Iterator[FeedEntry]:
    """Return the entries of a document that moved: equal texts are moved, the rest is paired by headings."""
    if old is None or new is None:
        for step in (old, new):
            yield from plan_chunk_feed(step, None) if step else ()
        return
    equal, gone, came = _pair(old.gone, new.came, key=lambda chunk: chunk.content_hash)
    pairs, gone, came = _pair(gone, came, key=lambda chunk: chunk.heading_path)
    reason = f"moved from {old.uri}"
    for before, after in equal:
        yield _chunk(FeedChange.MOVED, before.id, after.id, new, reason)
    for before, after in pairs:
        yield _chunk(FeedChange.REPLACED, before.id, after.id, new, f"{reason}, with other text")
    for chunk in gone:
        yield _chunk(FeedChange.REMOVED, chunk.id, None, old, f"gone when the document moved to {new.uri}")
    for chunk in came:
        yield _chunk(FeedChange.ADDED, None, chunk.id, new, f"new when the document {reason}")


def reason_of(change: DocumentChange) -> str:
    """Why a document changed, in words where the ledger has none."""
    return change.reason or _REASONS[change.kind]


_DOCUMENT = {
    ChangeKind.ADDED: FeedChange.ADDED,
    ChangeKind.CHANGED: FeedChange.REPLACED,
    ChangeKind.REFRESHED: FeedChange.REFRESHED,
    ChangeKind.REMOVED: FeedChange.REMOVED,
}
_TOOL = {
    FeedChange.ADDED: "new in the file",
    FeedChange.REFRESHED: "same name, described otherwise",
    FeedChange.REMOVED: "no longer in the file",
}
_REASONS = {
    ChangeKind.ADDED: "new document",
    ChangeKind.CHANGED: "other content",
    ChangeKind.REFRESHED: "same content, other links or fields",
    ChangeKind.REMOVED: "removed",
}


def _pair(
    gone: Sequence[FeedChunk], came: Sequence[FeedChunk], *, key: Callable[[FeedChunk], Hashable]
) -> tuple[list[tuple[FeedChunk, FeedChunk]], list[FeedChunk], list[FeedChunk]]:
    """Pair chunks of equal key in order; give the pairs and what is left over on each side."""
    waiting: dict[Hashable, list[FeedChunk]] = defaultdict(list)
    for chunk in reversed(came):
        waiting[key(chunk)].append(chunk)
    pairs, left = [], []
    for chunk in gone:
        if waiting[key(chunk)]:
            pairs.append((chunk, waiting[key(chunk)].pop()))
        else:
            left.append(chunk)
    taken = {new.id for _, new in pairs}
    return pairs, left, [chunk for chunk in came if chunk.id not in taken]


def _by_document(chunks: Iterable[Chunk]) -> dict[str, list[Chunk]]:
    found: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in sorted(chunks, key=lambda chunk: (chunk.doc, chunk.ordinal, chunk.id)):
        found[chunk.doc].append(chunk)
    return found


def _feed_chunks(chunks: Iterable[Chunk]) -> tuple[FeedChunk, ...]:
    return tuple(
        FeedChunk(id=chunk.id, heading_path=chunk.heading_path, content_hash=chunk.content_hash)
        for chunk in chunks
    )


def _entry(
    kind: FeedKind,
    change: FeedChange,
    old_id: str | None,
    new_id: str | None,
    of: DocumentStep | DocumentChange,
    reason: str,
) -> FeedEntry:
    return FeedEntry(
        kind=kind, change=change, old_id=old_id, new_id=new_id, source=of.source, uri=of.uri, reason=reason
    )


_chunk = partial(_entry, FeedKind.CHUNK)
_document = partial(_entry, FeedKind.DOCUMENT)
_tool = partial(_entry, FeedKind.TOOL)
