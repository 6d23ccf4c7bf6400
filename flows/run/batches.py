"""Cutting work into parts."""

from collections.abc import Sequence
from typing import TypeVar

TASKS_AT_ONCE = 4
"""Threads of a run's own process that fetch, parse or embed."""

DOCUMENTS_PER_EMBEDDING = 2_000
"""Documents that are embedded as one part: enough for batches of texts of like length."""

T = TypeVar("T")


def cut(items: Sequence[T], size: int) -> tuple[Sequence[T], ...]:
    """Cut a sequence into parts of at most *size*."""
    return tuple(items[start : start + size] for start in range(0, len(items), size))
