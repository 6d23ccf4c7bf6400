"""What a reader holds in memory: tables that fit, the graph first; all that they leave is the driver's."""

import pytest

from indexes.reader_parts import ReaderMemory, cache_to_hold, share_memory

MB = 1 << 20


@pytest.mark.parametrize(
    ("chunks", "graph", "held"),
    [
        (400 * MB, 300 * MB, ReaderMemory(chunks_mb=400, graph_mb=300, driver_mb=500)),
        (150 * MB, 1, ReaderMemory(chunks_mb=200, graph_mb=100, driver_mb=900)),
        (500 * MB, 300 * MB, ReaderMemory(graph_mb=300, driver_mb=900)),
        (500 * MB, 800 * MB, ReaderMemory(chunks_mb=500, driver_mb=700)),
        (701 * MB, 701 * MB, ReaderMemory(driver_mb=1200)),
        (700 * MB, None, ReaderMemory(chunks_mb=700, driver_mb=500)),
        (800 * MB, 0, ReaderMemory(driver_mb=1200)),
        (None, None, ReaderMemory(driver_mb=1200)),
    ],
)
def test_all_that_tables_leave_is_the_drivers(
    chunks: int | None, graph: int | None, held: ReaderMemory
) -> None:
    assert share_memory(1200, chunks=chunks, graph=graph) == held


@pytest.mark.parametrize("cache_mb", [0, 1, 64, 1536])
def test_a_table_gets_at_least_what_it_takes(cache_mb: int) -> None:
    held = share_memory(cache_mb, chunks=3 * MB + 1, graph=5)
    assert held.chunks_mb == 0 or held.chunks_mb >= 4
    assert held.chunks_mb + held.graph_mb + held.driver_mb == cache_mb


@pytest.mark.parametrize(
    ("chunks", "graph"), [(3_000 * MB, 3_500 * MB + 1), (1, 1), (40 * MB, None), (0, 9 * MB)]
)
def test_what_is_said_to_hold_all_holds_all(chunks: int, graph: int | None) -> None:
    held = share_memory(cache_to_hold(chunks=chunks, graph=graph), chunks=chunks, graph=graph)
    assert (bool(held.chunks_mb), bool(held.graph_mb)) == (bool(chunks), bool(graph))
