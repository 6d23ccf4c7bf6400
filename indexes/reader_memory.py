"""How a reader that lives long divides its memory: whole tables where they fit, else what its driver read."""

import math
from dataclasses import dataclass
from itertools import count

_PARTS, _FOR_TABLES = 12, 7
"""The search indexes of the chunks, which nothing holds whole, are left at least five twelfths."""
_STEP_MB = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderMemory:
    """Megabytes for the chunks of a generation, its graph, and what the driver has read; 0: not held."""

    chunks_mb: int = 0
    graph_mb: int = 0
    driver_mb: int


def share_memory(cache_mb: int, *, chunks: int | None, graph: int | None) -> ReaderMemory:
    """Hold both tables if they fit together, else the graph, which saves most a byte, else the chunks.

    All that they leave is the driver's: with too small a cache the search indexes are read again with each
    question (bench/RESULTS.md). In twelfths, so that a table that grows a little changes nothing.

    Args: chunks, graph: bytes that each would take; None: it cannot be held.
    """
    sizes = {"graph_mb": graph, "chunks_mb": chunks}
    parts = {name: _parts_for(size, cache_mb) for name, size in sizes.items() if size}
    fitting = {name: number for name, number in parts.items() if number <= _FOR_TABLES}
    if sum(fitting.values()) > _FOR_TABLES:
        del fitting["chunks_mb"]
    held = {name: cache_mb * number // _PARTS for name, number in fitting.items()}
    return ReaderMemory(**held, driver_mb=cache_mb - sum(held.values()))


def cache_to_hold(*, chunks: int | None, graph: int | None) -> int:
    """Return the megabytes of a cache that holds both tables."""
    wanted = sum(map(bool, (chunks, graph)))
    sizes = (share_memory(mb, chunks=chunks, graph=graph) for mb in count(_STEP_MB, _STEP_MB))
    fit = next(one for one in sizes if bool(one.chunks_mb) + bool(one.graph_mb) == wanted)
    return fit.chunks_mb + fit.graph_mb + fit.driver_mb


def _parts_for(size: int, cache_mb: int) -> int:
    megabytes = math.ceil(size / (1 << 20))
    return math.ceil(megabytes * _PARTS / cache_mb) if cache_mb else _PARTS
