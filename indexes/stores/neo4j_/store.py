"""The graph store on a Neo4j 5.26+ server.

Two graphs stand side by side: rows with their generations, for our readers, and the view of one generation,
for people and other programs (docs/how-to/query-neo4j.md). schema.py has both.
"""

from collections.abc import Callable, Collection
from functools import cached_property

from indexes.ports import ChunkReader
from indexes.stores.neo4j_.generations import load_held
from indexes.stores.neo4j_.reader import Neo4jGraphReader, check_kept
from indexes.stores.neo4j_.session import Connection
from indexes.stores.neo4j_.writer import Neo4jGraphWriter

_READ_RETRY_SECONDS = 2.0
_WRITE_RETRY_SECONDS = 60.0


class Neo4jGraphStore:
    """One index in a Neo4j database, which others may share.

    Nothing connects before the first call that needs the server. Reading gives up after 2 s, so that a
    query can be answered without the graph; writing waits a minute for a server that restarts.

    Args: index_id: tells the indexes of one database apart; embeddings: whether the chunks that people see
    have vectors.
    """

    def __init__(
        self, uri: str, user: str, password: str, *, index_id: str, embeddings: bool = False
    ) -> None:
        self._ix = index_id
        self._embeddings = embeddings
        self._reading = Connection(uri, user, password, retry_seconds=_READ_RETRY_SECONDS)
        self._writing = Connection(uri, user, password, retry_seconds=_WRITE_RETRY_SECONDS)

    def create(self) -> None:
        """Make constraints and indexes; harmless to repeat."""
        self._writer.create()

    def at(self, generation: int) -> Neo4jGraphReader:
        """Return a reader pinned to *generation*; 0 is the empty index.

        Raises: StoreUnavailable: the server cannot be reached, or the generation is not kept.
        ConfigError: the address, user or password is wrong.
        """
        if generation:
            self._reading.read(lambda transaction: check_kept(transaction, self._ix, generation))
        return Neo4jGraphReader(self._reading, ix=self._ix, generation=generation)

    def writer(self) -> Neo4jGraphWriter:
        """Return the writer; the same at each call."""
        return self._writer

    def show(
        self,
        generation: int,
        chunks: Callable[[], ChunkReader],
        *,
        written: Callable[[int], Collection[str] | None] = lambda _base: None,
    ) -> None:
        """Let people see *generation*, with what its chunks say.

        Raises: ConfigError: another index of the database has vectors of another dimension.
        """
        self._writer.show(generation, chunks, written)

    def shows(self, generation: int) -> bool:
        """Whether people see *generation*, and of no other any part."""
        held = self._reading.read(lambda transaction: load_held(transaction, self._ix))
        return {held.view_low, held.view_high} == {generation}

    def close(self) -> None:
        """Let go of both connections."""
        self._reading.close()
        self._writing.close()

    @cached_property
    def _writer(self) -> Neo4jGraphWriter:
        return Neo4jGraphWriter(self._writing, ix=self._ix, embeddings=self._embeddings)
