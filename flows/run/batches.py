"""Cutting work into parts."""

from collections.abc import Sequence


def cut(items: Sequence[str], size: int) -> tuple[Sequence[str], ...]:
    """Cut a sequence into parts of at most *size*."""
    return tuple(items[start : start + size] for start in range(0, len(items), size))
