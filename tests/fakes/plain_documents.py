"""Documents as lists of what stands in them, for writers of several formats to write."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class H:
    """A heading."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class P:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class L:
    """A list of items."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class T:
    """A table by rows."""

    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class N:
    """A paragraph with a footnote."""

    text: str
    note: str


Item = H | P | L | T | N
Document = tuple[Item, ...]
