"""Generations of a chunk store."""

from collections.abc import Collection
from typing import Any

from indexes.ports import ChunkStore, ChunkVectors, StoreState
from schemas.nodes import Chunk
from tests.fakes.graph_samples import make_chunk, make_vectors

Row = tuple[Chunk, ChunkVectors]


def row(text: str, vectors: ChunkVectors | None = None, **fields: Any) -> Row:
    """A chunk and its vectors; *fields* override."""
    return make_chunk(text, **fields), vectors or make_vectors()


def publish(
    store: ChunkStore,
    generation: int,
    rows: Collection[Row] = (),
    gone: Collection[str] = (),
    *,
    base: int = -1,
) -> StoreState:
    """Stage, apply and finish on top of *base*, the generation before unless given."""
    writer = store.writer()
    writer.stage(generation, base=generation - 1 if base < 0 else base)
    writer.apply(iter(rows), gone)
    return writer.finish(generation)


def ids(rows: Collection[Row]) -> list[str]:
    """Ids of the chunks, in order."""
    return sorted(chunk.id for chunk, _ in rows)
