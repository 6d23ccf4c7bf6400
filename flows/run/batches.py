"""Cutting work into parts."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def cut(items: Sequence[T], size: int) -> tuple[Sequence[T], ...]:
    """Cut a sequence into parts of at most *size*."""
    return tuple(items[start : start + size] for start in range(0, len(items), size))
