"""Writes chunks of one generation."""

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice

import lancedb
import pyarrow as pa
from lancedb.table import Table

from indexes.ports import ChunkVectors, StoreState
from indexes.stores.lance.engine import Address
from indexes.stores.lance.rows import ChunkRow, chunks_to_batch
from indexes.stores.lance.staging import StagedTable
from indexes.stores.lance.tables import CHUNKS, chunk_schema
from indexes.stores.lance.text_index import refresh_text_indexes
from indexes.stores.lance.vector_index import refresh_vector_indexes
from indexes.vectors import check_vectors
from schemas.nodes import Chunk

BATCH_ROWS = 1000
"""Chunks turned to Arrow at once: 2 MB of vectors at 384 dimensions, several times that in Python."""


class LanceChunkWriter:
    """A ChunkWriter: one commit for each `apply`, none for an empty one."""

    def __init__(
        self, database: lancedb.DBConnection, dim: int, *, table: str = CHUNKS, tokens: bool = False
    ) -> None:
        self._dim, self._tokens = dim, tokens
        self._staged = StagedTable(database, table, chunk_schema(dim, tokens=tokens), prepare=_prepare)

    def stage(self, generation: int, *, base: int) -> None:
        """Make the table equal to *base*, undoing whatever an abandoned generation left."""
        self._staged.stage(generation, base=base)

    def apply(self, upserts: Iterable[tuple[Chunk, ChunkVectors]], deletes: Collection[str]) -> None:
        """Upsert rows by id and delete ids in one commit; *upserts* is streamed."""
        self._staged.apply(self._batches(upserts), deletes)

    def finish(self, generation: int, *, before: StoreState | None = None) -> StoreState:
        """Name the staged state *generation* for readers and give what it contains."""
        return self._staged.finish(generation, before=before)

    def abort(self, generation: int, *, base: int) -> None:
        """Leave no trace of the staged generation."""
        self._staged.stage(generation, base=base)

    def prune(self, *, keep: Collection[int]) -> None:
        """Make generations other than *keep* unreadable and free their disk space in time."""
        self._staged.prune(keep=keep)

    def maintain(self, generation: int, *, fence: Callable[[], None]) -> None:
        """Join files and merge segments of indexes, for the next generation."""
        self._staged.maintain(generation, fence=fence)

    def _batches(self, upserts: Iterable[ChunkRow]) -> Iterator[pa.RecordBatch]:
        rows = iter(upserts)
        while batch := list(islice(rows, BATCH_ROWS)):
            for chunk, vectors in batch:
                check_vectors(chunk.id, vectors, dim=self._dim)
            yield chunks_to_batch(batch, self._dim, tokens=self._tokens)


def _prepare(table: Table, address: Address) -> None:
    refresh_text_indexes(table)
    refresh_vector_indexes(table, address)
