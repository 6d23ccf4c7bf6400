"""What a model is asked, and what an extractor besides the rules finds in a text: names, and statements."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Message = Mapping[str, str]
"""One turn of a conversation with a model: `role` and `content`."""

Complete = Callable[[Sequence[Message], Mapping[str, Any] | None], str]
"""Ask a model for JSON of a schema, or for text where there is none, and give its answer as it came.

Whether the JSON keeps the schema is for the caller to check: not every server makes its model keep to one.
Raises: TransientError: it may answer later; TerminalError: it never will.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Triple:
    """A statement; `text` is the part of the chunk that makes it."""

    subject: str
    predicate: str
    object: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """Names and statements that a text has, character by character; `dropped` counts those that did not."""

    names: tuple[str, ...] = ()
    triples: tuple[Triple, ...] = ()
    dropped: int = 0


class EntityExtractor(Protocol):
    """Reads names and statements from a text; what it gives depends on the text and its own key alone."""

    @property
    def key(self) -> str:
        """Everything that decides what it finds."""

    def extract(self, text: str) -> Extraction:
        """Return what stands in the text; nothing where it cannot tell, which is no error."""
