"""What an index of more passages costs: the slopes behind docs/scaling.md.

    python -m bench.growth [--chunks 10000 40000 160000] [--documents 10000 100000]

Texts are of random words, vectors random around topics. Each size is an index of its own. Prints one JSON
object a size; CPU seconds of this process, milliseconds by the clock. `append` is a second generation of a
thousand passages on top, with all that publishing them costs the chunk store.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np

from bench.comparison import Figures
from bench.similar import DIM, PER_TOPIC, make_chunk
from indexes.places import folder_bytes
from indexes.ports import ChunkVectors, Vector
from indexes.stores.lance.store import LanceChunkStore
from indexes.stores.ledger.leases import open_turns
from indexes.stores.ledger.ledger import open_ledger
from runtime.readings import peak_rss_mb
from schemas.documents import DocumentState, KnownDocument
from schemas.evidence import SearchField
from schemas.ids import sha256_hex
from schemas.nodes import Chunk

PART = 1_000
ADDED = 1_000
QUESTIONS = 30
WORDS_A_CHUNK = 100
VOCABULARY = 50_000


def main() -> None:
    """Measure every size."""
    parser = argparse.ArgumentParser(description="Measure what grows with an index.")
    parser.add_argument("--chunks", type=int, nargs="*", default=[10_000, 40_000, 160_000])
    parser.add_argument("--documents", type=int, nargs="*", default=[10_000, 100_000])
    asked = parser.parse_args()
    for count in asked.documents:
        with tempfile.TemporaryDirectory() as scratch:
            print(json.dumps(measure_ledger(Path(scratch), count)), flush=True)
    for count in asked.chunks:
        with tempfile.TemporaryDirectory() as scratch:
            print(json.dumps(measure_chunks(Path(scratch), count)), flush=True)


def measure_ledger(work: Path, count: int) -> Figures:
    """Rows of documents: written, read back as a plan reads them; and what a turn at a host costs."""
    ledger = open_ledger(f"sqlite:///{work / 'ledger.sqlite'}", now=lambda: "2026-01-01T00:00:00+00:00")

    def write() -> None:
        for start in range(0, count, PART):
            ledger.documents.save([_document(start + place) for place in range(PART)])

    written = _cpu(write)
    planned = _cpu(lambda: ledger.frontier.to_look_at("bench", run_id="r2", due_by=None, limit=1000))
    ledger.close()
    turns = open_turns(f"sqlite:///{work / 'turns.sqlite'}")
    taken = [_clock(lambda: turns.take("host", holder="me", delay=1.0)) for _ in range(100)]
    turns.close()
    return {
        "documents": count,
        "ledger_bytes_a_document": round(folder_bytes(work) / count),
        "write_cpu_ms_a_thousand": round(1e6 * written / count, 1),
        "next_thousand_cpu_ms": round(1000 * planned, 1),
        "turn_ms": round(1000 * median(taken), 2),
    }


def measure_chunks(work: Path, count: int) -> Figures:
    """Chunks in LanceDB: bytes, a first generation, a second on top, searches, comparing new with all."""
    rng = np.random.default_rng(0)
    store = LanceChunkStore.create(work, dim=DIM)
    rows = _rows(rng, count)

    def publish(number: int, upserts: Iterator[tuple[Chunk, ChunkVectors]]) -> None:
        writer = store.writer()
        writer.stage(number, base=number - 1)
        writer.apply(upserts, ())
        writer.finish(number)

    first = _cpu(lambda: publish(1, rows))
    size = folder_bytes(work)
    append = _cpu(lambda: publish(2, _rows(rng, ADDED, start=count)))
    reader = store.at(2)
    questions = [_vector(rng, 1)[0] for _ in range(QUESTIONS)]
    words = [" ".join(_words(rng, 5)) for _ in range(QUESTIONS)]
    by_vector = [_clock(lambda q=q: reader.search_vector(SearchField.TEXT, q, top_k=10)) for q in questions]
    by_text = [_clock(lambda q=q: reader.search_text(SearchField.TEXT, q, top_k=10)) for q in words]
    new = _vector(rng, ADDED)
    compared = _cpu(lambda: [new @ part.T for _, part in reader.text_vectors()])
    digest = _cpu(lambda: sum(1 for _ in reader.row_hashes()))
    store.close()
    return {
        "chunks": count,
        "bytes_a_chunk": round(size / count),
        "first_cpu_ms_a_chunk": round(1000 * first / count, 3),
        "append_cpu_seconds": round(append, 2),
        "vector_search_ms": round(1000 * median(by_vector), 1),
        "text_search_ms": round(1000 * median(by_text), 1),
        "compare_thousand_cpu_seconds": round(compared, 2),
        "row_hashes_cpu_seconds": round(digest, 2),
        "peak_mib": round(peak_rss_mb()),
    }


def _document(place: int) -> KnownDocument:
    uri, sha = f"https://bench.test/section-{place % 97}/page-{place}.html", sha256_hex(str(place))
    return KnownDocument(
        source="bench",
        uri=uri,
        doc=uri,
        state=DocumentState.FETCHED,
        title=f"Page {place}",
        content_type="text/html",
        etag=f'"{sha[:16]}"',
        raw_sha=sha,
        parsed_sha=sha,
        fragment_sha=sha,
        content_hash=sha,
        run_id="r1",
        fetched_at="2026-01-01T00:00:00+00:00",
        checked_at="2026-01-01T00:00:00+00:00",
    )


def _rows(rng: np.random.Generator, count: int, *, start: int = 0) -> Iterator[tuple[Chunk, ChunkVectors]]:
    none = np.zeros((0, DIM), np.float32)
    for first in range(start, start + count, PART):
        vectors = _vector(rng, PART)
        for place, vector in enumerate(vectors, start=first):
            text = " ".join(_words(rng, WORDS_A_CHUNK))
            chunk = replace(make_chunk(place, "first"), text=text, offsets=(0, len(text)))
            yield chunk, ChunkVectors(text=vector, heading=vector, anchors=none, captions=none)


def _words(rng: np.random.Generator, count: int) -> list[str]:
    return [f"w{min(rank, VOCABULARY)}" for rank in rng.zipf(1.3, count)]


def _vector(rng: np.random.Generator, count: int) -> Vector:
    topics = rng.normal(size=(count // PER_TOPIC + 1, DIM)).astype(np.float32)
    drawn = topics[rng.integers(0, len(topics), count)] + rng.normal(size=(count, DIM)).astype(np.float32)
    unit: Vector = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return unit


def _cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _clock(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
