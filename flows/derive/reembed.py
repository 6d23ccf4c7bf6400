"""When the model changes: passages that stay as they are get vectors of the new one."""

from collections.abc import Collection, Iterator
from itertools import islice

from flows.derive.embed import embed_chunks
from flows.run.pipeline import Pipeline
from schemas.changes import RowChanges
from schemas.errors import Stopped
from schemas.nodes import Chunk

CHUNKS_PER_PAYLOAD = 1_000


def carry_over(pipeline: Pipeline, base: int, *, without: Collection[str]) -> Iterator[RowChanges]:
    """Yield every passage of the base generation but those *without*, whatever source, to be encoded anew."""
    kept = (chunk for chunk in pipeline.index.chunks.at(base).scan() if chunk.id not in without)
    for chunks in _in_batches(kept):
        if pipeline.stop.is_set():
            raise Stopped("stopped; run again to go on", subject=pipeline.source.name)
        embed_chunks(pipeline, chunks)
        yield RowChanges(chunks=chunks)


def _in_batches(chunks: Iterator[Chunk]) -> Iterator[tuple[Chunk, ...]]:
    while batch := tuple(islice(chunks, CHUNKS_PER_PAYLOAD)):
        yield batch
