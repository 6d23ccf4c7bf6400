"""What a run is about to do to the index, decided before anything is written."""

from dataclasses import dataclass
from enum import StrEnum

from schemas.documents import LiveDocument


class ChangeKind(StrEnum):
    """What happens to a document; REFRESHED keeps its content but not its links or fields."""

    ADDED = "added"
    CHANGED = "changed"
    REFRESHED = "refreshed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChange:
    """One document's step from the base generation to the next; `new` is None when it goes."""

    kind: ChangeKind
    old: LiveDocument | None
    new: LiveDocument | None
    reason: str = ""

    @property
    def uri(self) -> str:
        """The document's URI, before and after."""
        live = self.new or self.old
        assert live is not None
        return live.uri

    @property
    def doc(self) -> str:
        """The document's node id."""
        live = self.new or self.old
        assert live is not None
        return live.doc


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCounts:
    """Rows a generation adds, removes, changes in place; `embedded` counts texts newly encoded."""

    added: int = 0
    removed: int = 0
    changed: int = 0
    unchanged: int = 0
