"""What a run is about to do to the index, and what the change feed says of it.

Whoever takes every feed entry's `old_id` out of their copy of one generation and puts its `new_id` in, entry
by entry, has the ids of a later one. The contract of the feed is docs/reference/changes.md.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from schemas.documents import LiveDocument
from schemas.edges import Edge
from schemas.nodes import Chunk, Node


class ChangeKind(StrEnum):
    """What happens to a document; REFRESHED keeps its content but not its links or fields."""

    ADDED = "added"
    CHANGED = "changed"
    REFRESHED = "refreshed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChange:
    """One document's step from the base generation to the next; `new` is None when it goes.

    `successor` is the node id of the document that has the content of one that goes.
    """

    kind: ChangeKind
    old: LiveDocument | None
    new: LiveDocument | None
    reason: str = ""
    successor: str | None = None

    @property
    def live(self) -> LiveDocument:
        """The document as it will be, or as it was when it goes."""
        live = self.new or self.old
        if live is None:
            raise ValueError("a change needs a document before or after")
        return live

    @property
    def source(self) -> str:
        """The document's source."""
        return self.live.source

    @property
    def uri(self) -> str:
        """The document's URI."""
        return self.live.uri

    @property
    def doc(self) -> str:
        """The document's node id."""
        return self.live.doc


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChanges:
    """Rows to upsert and ids to delete for some documents: one payload of the outbox."""

    nodes: tuple[Node, ...] = ()
    node_deletes: tuple[str, ...] = ()
    edges: tuple[Edge, ...] = ()
    edge_deletes: tuple[str, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    chunk_deletes: tuple[str, ...] = ()
    chunks_added: int = 0

    def __bool__(self) -> bool:
        """Whether there is anything to write."""
        upserts = self.nodes or self.edges or self.chunks
        return bool(upserts or self.node_deletes or self.edge_deletes or self.chunk_deletes)


Counts = Mapping[str, Mapping[str, int]]
"""Rows by table (documents, chunks, nodes, edges) and kind."""


def add_counts(left: Counts, right: Counts) -> dict[str, dict[str, int]]:
    """Sum two tables of counts, leaving out what comes to nothing."""
    tables: dict[str, Counter[str]] = {}
    for counts in (left, right):
        for table, kinds in counts.items():
            tables.setdefault(table, Counter()).update(kinds)
    return {
        table: {kind: number for kind, number in sorted(kinds.items()) if number}
        for table, kinds in sorted(tables.items())
    }


class FeedKind(StrEnum):
    """What an entry is about."""

    DOCUMENT = "document"
    CHUNK = "chunk"
    TOOL = "tool"


class FeedChange(StrEnum):
    """What became of it; REFRESHED keeps the id and the text, and has other links or fields."""

    ADDED = "added"
    REPLACED = "replaced"
    REFRESHED = "refreshed"
    MOVED = "moved"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEntry:
    """One change; `uri` is where it is now, or was when it goes.

    `generation` is 0 until the generation is frozen.
    """

    kind: FeedKind
    change: FeedChange
    old_id: str | None
    new_id: str | None
    source: str
    uri: str
    reason: str
    generation: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """Everything that leads from what readers saw at `since` to what they saw at `until`, in order."""

    since: int
    until: int
    entries: tuple[FeedEntry, ...]
