"""Cutting what is many into lists."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

IN_LIMIT = 500
"""Values that one query of a database names."""

T = TypeVar("T")
Key = TypeVar("Key", int, str)


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Cut items into lists of at most *size*, in their order."""
    iterator = iter(items)
    while part := list(islice(iterator, size)):
        yield part


def in_parts(values: Iterable[Key], size: int = IN_LIMIT) -> Iterator[list[Key]]:
    """Cut the sorted distinct values into lists that a query may name."""
    return batched(sorted(set(values)), size)
