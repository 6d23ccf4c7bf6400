"""What a reader holds in memory: tables that fit, the graph first, and the rest is the driver's."""

import pytest

from indexes.reader_memory import ReaderMemory, cache_to_hold, share_memory

MB = 1 << 20


@pytest.mark.parametrize(
    ("chunks", "graph", "held"),
    [
        (400 * MB, 300 * MB, ReaderMemory(chunks_mb=700, graph_mb=700, driver_mb=500)),
        (500 * MB, 300 * MB, ReaderMemory(graph_mb=700, driver_mb=500)),
        (500 * MB, 800 * MB, ReaderMemory(chunks_mb=700, driver_mb=500)),
        (701 * MB, 701 * MB, ReaderMemory(driver_mb=1200)),
        (700 * MB, None, ReaderMemory(chunks_mb=700, driver_mb=500)),
        (None, None, ReaderMemory(driver_mb=1200)),
    ],
)
def test_what_does_not_fit_leaves_its_share_to_the_driver(
    chunks: int | None, graph: int | None, held: ReaderMemory
) -> None:
    assert share_memory(1200, chunks=chunks, graph=graph) == held


def test_an_empty_index_is_held() -> None:
    assert share_memory(1200, chunks=0, graph=0).graph_mb == 700


def test_what_is_said_to_hold_all_holds_all() -> None:
    for chunks, graph in ((3_000 * MB, 3_500 * MB + 1), (1, 1), (40 * MB, None)):
        assert share_memory(cache_to_hold(chunks, graph), chunks=chunks, graph=graph).chunks_mb
    assert share_memory(cache_to_hold(7 * MB, 5 * MB), chunks=7 * MB, graph=5 * MB).graph_mb
