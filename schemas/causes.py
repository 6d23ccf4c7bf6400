"""Where work says what it is done for; whoever measures listens, and code below flows knows no clock."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TypeVar

from schemas.cost import Cause

T = TypeVar("T")


class CostListener(Protocol):
    """Is told what each thread works for."""

    def block(self, cause: Cause) -> AbstractContextManager[None]:
        """What the calling thread does in the block is done for *cause*; a block within it is its own."""

    def add_rows(self, table: str, number: int) -> None:
        """So many rows of a table were written or removed."""


_LISTENERS: list[CostListener] = []


def listen(listener: CostListener) -> None:
    """Tell one listener of everything from now on, in place of any before it."""
    _LISTENERS[:] = [listener]


@contextmanager
def caused_by(cause: Cause) -> Iterator[None]:
    """What the calling thread does in the block, it does for *cause*."""
    if not _LISTENERS:
        yield
        return
    with _LISTENERS[0].block(cause):
        yield


def count_rows(table: str, number: int) -> None:
    """Say that rows of a table were written or removed."""
    for listener in _LISTENERS:
        listener.add_rows(table, number)


def counted_rows(table: str, rows: Iterable[T]) -> Iterator[T]:
    """The rows as they are, counted once they have been taken."""
    number = 0
    try:
        for row in rows:
            number += 1
            yield row
    finally:
        count_rows(table, number)
