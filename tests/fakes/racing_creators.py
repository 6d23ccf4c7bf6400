"""Processes that make one new index after another, all at the same moment."""

import multiprocessing
from collections.abc import Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

from schemas.settings import Settings

_CONTEXT = multiprocessing.get_context("spawn")
SECONDS = 60


def race(indexes: Sequence[Settings], *, processes: int) -> list[list[str]]:
    """Have each process make each index, or say why it cannot; what each of them found, index by index."""
    start, found = _CONTEXT.Barrier(processes), _CONTEXT.Queue()
    racers = [
        _CONTEXT.Process(target=_make_all, args=(tuple(indexes), str(number), start, found))
        for number in range(processes)
    ]
    for racer in racers:
        racer.start()
    try:
        told = [found.get(timeout=SECONDS) for _ in racers]
    finally:
        for racer in racers:
            racer.kill()
            racer.join()
    return [list(outcomes) for outcomes in zip(*told, strict=True)]


def _make_all(indexes: Sequence[Settings], name: str, start: Any, found: Any) -> None:
    import_module("indexes.stores.lance.store")  # or the first to have imported it would always win

    outcomes = []
    for number, settings in enumerate(indexes):
        start.wait(SECONDS)
        try:
            outcomes.append(_make(settings, f"{name}-{number}"))
        except Exception as error:  # noqa: BLE001 - told to the test
            outcomes.append(f"{type(error).__name__}: {error}")
    found.put(outcomes)


def _make(settings: Settings, index_id: str) -> str:
    from flows.run.index import open_index

    with closing(open_index(settings, index_id=index_id)) as index:
        index.ledger.owner.claim(index.manifest.index_id)
        assert list(index.chunks.at(index.current()).scan()) == list(index.graph.at(0).scan_nodes()) == []
        return index.manifest.index_id


def is_whole(root: Path) -> bool:
    """Whether nothing but an index is in the folder."""
    # SQLite leaves its WAL to the next reader where its last connections close at the same moment.
    ledger = {"ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm"}
    made = {"index.json", "CURRENT", "lance", *ledger}
    return {path.name for path in root.iterdir()} <= made
