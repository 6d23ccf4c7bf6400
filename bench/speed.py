"""How long a question takes over about 100,000 chunks: hybrid alone, the whole recipe, with the reranker.

    python -m bench.speed WORK [--runs 3] [--copies 3] [--questions 100] [--index DIR]... [--cache-mb 1536]

The first call makes the index in WORK/large: `--runs` runs of `bench.scale_run`, then their rows several
times over under other ids. Vectors are made by hash, but every question is encoded by the real model, which
counts. Prints milliseconds (median, 95th percentile), CPU milliseconds, and those of a cold process; the
machine's load beside it, since on a busy one only the CPU time says anything. With --index, indexes that
`bench.scale_run` left are asked instead, and the last one is told as a multiple of the first.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.comparison import Figures, ours
from bench.embed import postgresql_manual
from bench.enlarge import enlarge
from bench.scaled_pages import DIM, write_sentences
from indexes.ports import Encoder, Vector
from indexes.wiring import Readers
from retrieval.evidence import build_retriever
from retrieval.live import CACHE_MB, open_retriever
from retrieval.question.query import build_query
from runtime.settings import raise_gc_threshold
from schemas.evidence import Query
from tests.fakes.exported_encoder import place_exported_encoder

AIMS = {"hybrid": 100, "recipe": 300, "rerank": 1500, "cold": 2000}
"""Milliseconds, 95 of 100 questions, on two cores."""
NOISE = 0.6


class TimedEncoder:
    """Encodes with the real model and gives a vector near the passage that answers."""

    dim = DIM

    def __init__(self, real: Encoder, known: dict[str, Vector]) -> None:
        self._real, self._known = real, known
        self.model_sha256 = real.model_sha256
        self._last = next(iter(known.values()))

    def encode_query(self, text: str) -> Vector:
        """The vector of a known question; of a second one, something between the last and its own."""
        own = self._real.encode_query(text)
        if text in self._known:
            self._last = self._known[text]
            return self._last
        mixed = self._last + own
        near: Vector = (mixed / np.linalg.norm(mixed)).astype(np.float32)
        return near

    def encode_documents(self, texts: Collection[str]) -> Vector:
        """As the real model."""
        return self._real.encode_documents(texts)

    def count_tokens(self, text: str) -> int:
        """As the real model."""
        return self._real.count_tokens(text)


def main() -> None:
    """Make the index if need be, ask, print."""
    parser = argparse.ArgumentParser(description="Milliseconds a question over many chunks.")
    parser.add_argument("work", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--copies", type=int, default=3)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--index", type=Path, action="append", help="ask this one; repeatable")
    parser.add_argument("--cache-mb", type=int, default=CACHE_MB, help="SITEGRAPH_READER_CACHE_MB")
    options = parser.parse_args()
    raise_gc_threshold()  # as `serve` does
    indexes = options.index or [make_index(options.work, runs=options.runs, copies=options.copies)]
    found = []
    for index in indexes:
        if not (index / "encoder").exists():
            place_exported_encoder(index / "encoder")
        found.append(measure(index, options.questions, options.cache_mb))
        print(json.dumps(found[-1], indent=2), flush=True)
    if len(found) > 1:
        print(json.dumps({"times_the_first": growth(found[0], found[-1])}, indent=2))


def growth(first: Figures, last: Figures) -> Figures:
    """What the last index costs for each that the first does, of every way to ask."""
    return {
        way: {name: round(last[way][name] / figure, 2) for name, figure in first[way].items()} for way in AIMS
    }


def make_index(work: Path, *, runs: int, copies: int) -> Path:
    """Return the large index, made once."""
    large = work / "large"
    if not (large / "CURRENT").exists():
        if not (work / "index" / "CURRENT").exists():
            work.mkdir(parents=True, exist_ok=True)
            write_sentences(postgresql_manual(work / "manual"), work)
            for number in range(runs):
                ours("bench.scale_run", work, number)
        enlarge(work / "index", large, copies=copies)
    return large


def measure(index: Path, number: int, cache_mb: int) -> Figures:
    """Ask each way, warm, then in processes of their own."""
    with open_retriever(index, environment={}, clock=time.monotonic, cache_mb=cache_mb) as live:
        found = live.read(lambda readers: _ask_ways(readers, number))
    found["cold"] = _cold(index, found.pop("texts"))
    return {**found, "load": os.getloadavg()[0], "aims_p95_ms": AIMS}


def _ask_ways(readers: Readers, number: int) -> Figures:
    known = _questions(readers, number)
    retriever = build_retriever(replace(readers, encoder=TimedEncoder(readers.encoder, known)))
    ways = {
        "hybrid": [build_query(text, use_graph=False) for text in known],
        "recipe": [build_query(text) for text in known],
        "rerank": [build_query(text, rerank=True) for text in known],
    }
    figures: Figures = {"chunks": len(readers.chunks.row_hashes()), "texts": list(known)[:10]}
    for name, queries in ways.items():
        for query in queries[:5]:
            retriever.retrieve(query)
        figures[name] = _timed(retriever.retrieve, queries)
    return figures


def _timed(ask: Callable[[Query], object], queries: list[Query]) -> Figures:
    seconds, spent = [], -time.process_time()
    for query in queries:
        start = time.perf_counter()
        ask(query)
        seconds.append(time.perf_counter() - start)
    spent += time.process_time()
    return {**_spread(seconds), "cpu_ms": round(1000 * spent / len(queries), 1)}


def _spread(seconds: list[float]) -> Figures:
    ordered = sorted(seconds)
    return {
        "p50_ms": round(1000 * statistics.median(ordered), 1),
        "p95_ms": round(1000 * ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))], 1),
    }


def _questions(readers: Readers, number: int) -> dict[str, Vector]:
    """Words of a passage and of its heading, and a vector near its own."""
    rng = np.random.default_rng(1)
    ids = sorted(readers.chunks.row_hashes())
    rows = readers.chunks.get(ids[:: max(1, len(ids) // number)][:number])
    stored = readers.chunks.vectors([row.id for row in rows])
    found: dict[str, Vector] = {}
    for row in rows:
        away = rng.standard_normal(DIM).astype(np.float32)
        near = stored[row.id].text + NOISE * away / np.linalg.norm(away)
        words = [*row.heading_path[-1:], *row.text.split()[3:9]]
        found[" ".join(words)] = (near / np.linalg.norm(near)).astype(np.float32)
    return found


def _cold(index: Path, texts: list[str]) -> Figures:
    seconds = []
    for text in texts:
        start = time.perf_counter()
        command = [sys.executable, "-m", "retrieval", "--query", text, "--index", str(index)]
        subprocess.run(command, check=True, capture_output=True)
        seconds.append(time.perf_counter() - start)
    return _spread(seconds)


if __name__ == "__main__":
    main()
