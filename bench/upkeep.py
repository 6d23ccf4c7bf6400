"""Upkeep of the chunk table: what runs of new and of few changed rows cost.

    python -m bench.upkeep [--chunks 11000 60000] [--added 11000] [--days 200]

For each size: an index of so many chunks, then three runs of 1,000 pages on top: CPU seconds of upkeep
alone, versions, and forty questions in words. Then days: an index of 11,000 chunks of which 10 pages change
each day; versions a day, and bytes on the disk against those of as many rows freshly loaded; at the end a
maintenance and a few days more. Prints one JSON object a line; ends with 1 where an aim is missed.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import mean

import lancedb
import numpy as np

from bench.comparison import Figures, conclude
from bench.growth import DIM, PART, _vector, _words
from bench.similar import make_chunk
from indexes.places import folder_bytes
from indexes.ports import ChunkReader, ChunkVectors
from indexes.stores.lance import staging
from indexes.stores.lance.store import LanceChunkStore
from indexes.stores.lance.table_upkeep import TableUpkeep
from runtime.readings import peak_rss_mb
from schemas.evidence import SearchField
from schemas.nodes import Chunk

CHUNKS_A_PAGE = 11
CHANGED_PAGES = 10
DAYS_CHUNKS = 11_000
KEPT = 3
QUESTIONS = 40
WORDS_A_CHUNK = 60
MAX_VERSIONS, MAX_DISK = 2.0, 3.0
Row = tuple[Chunk, ChunkVectors]


class Metered:
    """An upkeep, and the CPU seconds that were spent in it."""

    spent = 0.0

    def __init__(self, inner: TableUpkeep) -> None:
        self._inner = inner
        self.compact, self.sweep = inner.compact, inner.sweep

    def index_new_rows(self) -> None:
        """As the one inside."""
        self._metered(self._inner.index_new_rows)

    def free(self) -> None:
        """As the one inside."""
        self._metered(self._inner.free)

    def _metered(self, work: Callable[[], None]) -> None:
        began = time.process_time()
        work()
        Metered.spent += time.process_time() - began


def main() -> None:
    """All sizes, then the days."""
    parser = argparse.ArgumentParser(description="Upkeep of the chunk table.")
    parser.add_argument("--chunks", type=int, nargs="*", default=[11_000, 60_000])
    parser.add_argument("--added", type=int, default=11_000)
    parser.add_argument("--days", type=int, default=200)
    asked = parser.parse_args()
    staging.TableUpkeep = lambda *given, **options: Metered(TableUpkeep(*given, **options))  # type: ignore[assignment, misc]
    figures: Figures = {}
    for count in asked.chunks:
        with tempfile.TemporaryDirectory() as work:
            told = figures[str(count)] = measure_runs(Path(work), count, asked.added)
            print(json.dumps({"chunks": count, **told}), flush=True)
    if asked.days:
        with tempfile.TemporaryDirectory() as work:
            told = figures["days"] = measure_days(Path(work), DAYS_CHUNKS, asked.days)
            print(json.dumps({"days": asked.days, **told}), flush=True)
    conclude(figures, misses(figures.get("days", {})))


def misses(days: Figures) -> list[str]:
    """Which aims were missed, in words."""
    aims = {
        f"{days.get('versions_a_day')} versions a day; the aim is {MAX_VERSIONS}": (
            days.get("versions_a_day", 0) <= MAX_VERSIONS
        ),
        f"{days.get('most_of_live')} times the live bytes; the aim is {MAX_DISK}": (
            days.get("most_of_live", 0) <= MAX_DISK
        ),
    }
    return [aim for aim, reached in aims.items() if not reached]


def measure_runs(work: Path, count: int, added: int) -> Figures:
    """Three runs of so many new chunks on top of *count*."""
    rng = np.random.default_rng(0)
    store = LanceChunkStore.create(work, dim=DIM)
    publish(store, 1, _rows(rng, 0, count))
    cpu, versions = [], []
    for number in range(2, 5):
        before, Metered.spent = _version(work), 0.0
        publish(store, number, _rows(rng, count + added * (number - 2), added))
        cpu.append(round(Metered.spent, 2))
        versions.append(_version(work) - before)
    reader, questions = store.at(number), [" ".join(_words(rng, 4)) for _ in range(QUESTIONS)]
    _asked(reader, questions)
    return {
        "upkeep_cpu_seconds": cpu,
        "versions": versions,
        "questions_cpu_seconds": round(_asked(reader, questions), 2),
        "peak_mib": round(peak_rss_mb()),
    }


def measure_days(work: Path, count: int, days: int) -> Figures:
    """*days* runs of few changed pages; disk and versions; then a maintenance and one more day."""
    rng = np.random.default_rng(1)
    store = LanceChunkStore.create(work / "index", dim=DIM)
    publish(store, 1, _rows(rng, 0, count))
    fresh = LanceChunkStore.create(work / "fresh", dim=DIM)
    publish(fresh, 1, _rows(rng, 0, count))
    live, made, ratios, cpu = folder_bytes(work / "fresh"), [], [], []
    for number in range(2, days + 2):
        before, Metered.spent = _version(work / "index"), 0.0
        pages = rng.choice(count // CHUNKS_A_PAGE, CHANGED_PAGES, replace=False) * CHUNKS_A_PAGE
        publish(store, number, _changed(rng, pages, number))
        store.writer().prune(keep=range(max(1, number - KEPT + 1), number + 1))
        made.append(_version(work / "index") - before)
        cpu.append(Metered.spent)
        ratios.append(folder_bytes(work / "index") / live)
    spent = -time.process_time()
    store.writer().maintain(number, fence=lambda: None)
    spent += time.process_time()
    for later in range(number + 1, number + KEPT + 1):
        publish(store, later, _changed(rng, pages, later))
        store.writer().prune(keep=range(later - KEPT + 1, later + 1))
    return {
        "versions_a_day": round(mean(made), 2),
        "most_versions": max(made),
        "days_above_two": sum(one > 2 for one in made),
        "upkeep_cpu_seconds_a_day": round(mean(cpu), 3),
        "dearest_day": round(max(cpu), 2),
        "most_of_live": round(max(ratios), 2),
        "last_of_live": round(ratios[-1], 2),
        "maintenance_cpu_seconds": round(spent, 2),
        "of_live_after_maintenance": round(folder_bytes(work / "index") / live, 2),
    }


def publish(store: LanceChunkStore, number: int, rows: Iterator[Row]) -> None:
    """One generation, as a run writes it."""
    writer = store.writer()
    writer.stage(number, base=number - 1)
    writer.apply(rows, ())
    writer.finish(number)


def _asked(reader: ChunkReader, questions: list[str]) -> float:
    began = time.process_time()
    for question in questions:
        reader.search_text(SearchField.TEXT, question, top_k=20)
    return time.process_time() - began


def _version(work: Path) -> int:
    return int(lancedb.connect(work).open_table("chunks").version)


def _changed(rng: np.random.Generator, pages: np.ndarray, number: int) -> Iterator[Row]:
    for page in pages:
        for chunk, vectors in _rows(rng, int(page), CHUNKS_A_PAGE):
            yield replace(chunk, heading_path=(f"Day {number}",)), vectors


def _rows(rng: np.random.Generator, start: int, count: int) -> Iterator[Row]:
    none = np.zeros((0, DIM), np.float32)
    for first in range(start, start + count, PART):
        for place, vector in enumerate(_vector(rng, min(PART, start + count - first)), start=first):
            text = " ".join(_words(rng, WORDS_A_CHUNK))
            chunk = replace(make_chunk(place, "first"), text=text, offsets=(0, len(text)))
            yield chunk, ChunkVectors(text=vector, heading=vector, anchors=none, captions=none)


if __name__ == "__main__":
    main()
