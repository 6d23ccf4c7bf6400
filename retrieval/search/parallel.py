"""Searches that do not wait for each other: a store answers one on one core."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

THREADS = 4

T = TypeVar("T")


def run_in_parallel(asks: Sequence[Callable[[], T]]) -> list[T]:
    """Call all of *asks* in threads; give their answers in the order of *asks*, or raise the first error."""
    if len(asks) < 2:
        return [ask() for ask in asks]
    with ThreadPoolExecutor(min(THREADS, len(asks)), thread_name_prefix="search") as threads:
        return list(threads.map(lambda ask: ask(), asks))
