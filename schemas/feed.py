"""The change feed: what each generation did to documents, chunks and tools, for programs that keep a copy.

Whoever takes every entry's `old_id` out of their copy of one generation and puts its `new_id` in, entry by
entry, has the ids of a later one. The contract is docs/reference/changes.md.
"""

from dataclasses import dataclass
from enum import StrEnum


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
