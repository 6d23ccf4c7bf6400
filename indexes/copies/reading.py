"""What the bytes of an index elsewhere are read from."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol


class Readable(Protocol):
    """What bytes are read from."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, none at the end."""


class PlaceFile:
    """A file whose errors *telling* turns into those of its place; those of whoever takes the bytes pass."""

    def __init__(self, file: Readable, telling: Callable[[], AbstractContextManager[None]]) -> None:
        self._file, self._telling = file, telling

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, none at the end. Raises: as `IndexPlace.opened`."""
        with self._telling():
            return self._file.read(size)
