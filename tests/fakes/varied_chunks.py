"""Chunks with words of a natural frequency and vectors at random, and generations of them."""

from dataclasses import replace

import numpy as np

from indexes.ports import ChunkVectors
from indexes.stores.lance.store import LanceChunkStore
from schemas.nodes import Chunk
from tests.fakes.graph_samples import make_chunk

DIM = 16
WORDS = [f"word{number}" for number in range(300)]
Row = tuple[Chunk, ChunkVectors]

_ZIPF = np.array([1 / rank for rank in range(1, len(WORDS) + 1)])
_ZIPF /= _ZIPF.sum()


def varied_row(rng: np.random.Generator, key: int) -> Row:
    """The chunk of a key, with other words each time; `row` and the key are one word that it has alone."""
    text = f"row{key} " + " ".join(rng.choice(WORDS, size=12, p=_ZIPF))
    vector = rng.normal(size=DIM).astype(np.float32)
    vector /= np.linalg.norm(vector)
    none = np.zeros((0, DIM), np.float32)
    chunk = replace(
        make_chunk(f"row {key}"), text=text, lang=f"l{key % 3}", heading_path=(f"Part {key % 7}",)
    )
    return chunk, ChunkVectors(text=vector, heading=vector, anchors=none, captions=none)


def publish_rows(store: LanceChunkStore, number: int, rows: list[Row], gone: list[str] | None = None) -> None:
    """One generation on top of the one before."""
    writer = store.writer()
    writer.stage(number, base=number - 1)
    writer.apply(iter(rows), gone or [])
    writer.finish(number)
