"""How a reader that lives long divides its memory: whole tables where they fit, else what its driver read."""

import math
from dataclasses import dataclass

_TWELFTHS_FOR_TABLES = 7
"""The search indexes of the chunks, which nothing holds whole, are left at least five."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderMemory:
    """Megabytes for the chunks of a generation, its graph, and what the driver has read; 0: not held."""

    chunks_mb: int = 0
    graph_mb: int = 0
    driver_mb: int


def share_memory(cache_mb: int, *, chunks: int | None, graph: int | None) -> ReaderMemory:
    """Hold both tables if they fit together, else the graph, which saves most a byte, else the chunks.

    What is not held leaves its share to the driver: a cache that is too small for the search indexes reads
    them again with each question (bench/RESULTS.md).

    Args: chunks, graph: bytes that each would take; None: it cannot be held.
    """
    room_mb = cache_mb * _TWELFTHS_FOR_TABLES // 12
    needed = {"graph_mb": graph, "chunks_mb": chunks}
    room, held = room_mb << 20, dict[str, int]()
    fitting = {name: size for name, size in needed.items() if size is not None and size <= room}
    if sum(fitting.values()) <= room:
        held = dict.fromkeys(fitting, room_mb)
    elif fitting:
        held = {next(iter(fitting)): room_mb}
    return ReaderMemory(**held, driver_mb=cache_mb - room_mb if held else cache_mb)


def cache_to_hold(*tables: int | None) -> int:
    """Return the megabytes of a cache in which tables of so many bytes fit together."""
    room_mb = math.ceil(sum(filter(None, tables)) / (1 << 20))
    return math.ceil(room_mb * 12 / _TWELFTHS_FOR_TABLES)
