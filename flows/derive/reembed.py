"""When the model changes: passages that stay as they are get vectors of the new one."""

from collections.abc import Collection, Iterator
from itertools import islice

from flows.derive.embed import embed_chunks
from flows.run.contexts import DeriveContext
from schemas.changes import RowChanges
from schemas.nodes import Chunk

CHUNKS_PER_PAYLOAD = 1_000


def carry_over(
    run: DeriveContext, base: int, *, without: Collection[str]
) -> Iterator[tuple[RowChanges, int]]:
    """Yield every chunk of the base generation but those *without*, to be encoded again, whatever source.

    With each payload comes how many of its texts had no vector.
    """
    kept = (chunk for chunk in run.index.chunks.at(base).scan() if chunk.id not in without)
    for chunks in _in_batches(kept):
        run.raise_if_stopped()
        texts = embed_chunks(run.encoding(), chunks)
        yield RowChanges(chunks=chunks), texts


def _in_batches(chunks: Iterator[Chunk]) -> Iterator[tuple[Chunk, ...]]:
    while batch := tuple(islice(chunks, CHUNKS_PER_PAYLOAD)):
        yield batch
