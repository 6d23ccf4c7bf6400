"""Opens the stores of an index directory. Importing this takes the driver's 1.2 s: import it late."""

from collections.abc import Callable, Collection
from pathlib import Path

import lancedb
from lancedb.table import Table

from indexes.ports import ChunkReader, GraphReader
from indexes.stores.lance.graph import SHOWN_EDGE, SHOWN_NODE, LanceGraphReader
from indexes.stores.lance.graph_writer import LanceGraphWriter
from indexes.stores.lance.held import (
    HeldEdges,
    HeldRows,
    hold_chunks,
    hold_graph,
    size_of_chunks,
    size_of_graph,
)
from indexes.stores.lance.reader import LanceChunkReader
from indexes.stores.lance.tables import (
    CHUNK_FIELDS,
    CHUNKS,
    EDGE_SCHEMA,
    EDGES,
    NODE_SCHEMA,
    NODES,
    chunk_schema,
    connect,
    create_table,
    has_tag,
    open_at,
    require,
)
from indexes.stores.lance.writer import LanceChunkWriter
from indexes.stores.memory import MemoryChunkStore, MemoryGraphStore


class LanceChunkStore:
    """The ChunkStore of a LanceDB directory.

    Args: held_mb: memory that each of its readers may keep the most asked columns in. tokens: whether chunks
    have token vectors.
    Raises, on use: DamageFound: the directory has no chunks; SchemaMismatch: vectors of another dimension.
    """

    def __init__(
        self,
        directory: Path,
        *,
        dim: int,
        table: str = CHUNKS,
        session: lancedb.Session | None = None,
        held_mb: int = 0,
        tokens: bool = False,
    ) -> None:
        self._directory = directory
        self._session = session
        self._dim = dim
        self._tokens = tokens
        self._name = table
        self._held_mb = held_mb
        self._connection: lancedb.DBConnection | None = None

    @classmethod
    def create(
        cls,
        directory: Path,
        *,
        dim: int,
        table: str = CHUNKS,
        session: lancedb.Session | None = None,
        held_mb: int = 0,
        tokens: bool = False,
    ) -> "LanceChunkStore":
        """Make an empty store where there is none, and open it."""
        create_table(directory, table, chunk_schema(dim, tokens=tokens), indexes=CHUNKS)
        return cls(directory, dim=dim, table=table, session=session, held_mb=held_mb, tokens=tokens)

    def at(self, generation: int) -> ChunkReader:
        """A reader pinned to *generation*; 0 is empty, also where its version was pruned."""
        if generation == 0 and not has_tag(self._directory, self._name, 0):
            return MemoryChunkStore(dim=self._dim).at(0)
        table = open_at(self._database, self._name, chunk_schema(self._dim, tokens=self._tokens), generation)
        held = (
            hold_chunks(table, CHUNK_FIELDS, self._dim, most_bytes=self._held_mb << 20)
            if self._held_mb
            else None
        )
        return LanceChunkReader(table, self._dim, held=held)

    def bytes_to_hold(self, generation: int) -> int:
        """Estimate what holding *generation* would take."""
        if generation == 0 and not has_tag(self._directory, self._name, 0):
            return 0
        schema = chunk_schema(self._dim, tokens=self._tokens)
        table = open_at(self._database, self._name, schema, generation)
        return size_of_chunks(table, CHUNK_FIELDS, self._dim)

    def writer(self) -> LanceChunkWriter:
        """The writer."""
        return LanceChunkWriter(self._database, self._dim, table=self._name, tokens=self._tokens)

    def close(self) -> None:
        """Let go of the connection; it opens again on use."""
        self._connection = None

    @property
    def _database(self) -> lancedb.DBConnection:
        if self._connection is None:
            require(self._directory, self._name)
            self._connection = connect(self._directory, self._session)
        return self._connection


class LanceGraphStore:
    """The GraphStore of a LanceDB directory.

    Args: held_mb: memory that each of its readers may keep nodes and edges in.
    Raises, on use: DamageFound: the directory has no graph.
    """

    def __init__(self, directory: Path, *, session: lancedb.Session | None = None, held_mb: int = 0) -> None:
        self._directory = directory
        self._session = session
        self._held_mb = held_mb
        self._connection: lancedb.DBConnection | None = None

    @classmethod
    def create(cls, directory: Path, *, held_mb: int = 0) -> "LanceGraphStore":
        """Make an empty store where there is none, and open it."""
        create_table(directory, NODES, NODE_SCHEMA)
        create_table(directory, EDGES, EDGE_SCHEMA)
        return cls(directory, held_mb=held_mb)

    def at(self, generation: int) -> GraphReader:
        """A reader pinned to *generation*; 0 is empty, also where its version was pruned."""
        if generation == 0 and not has_tag(self._directory, EDGES, 0):
            return MemoryGraphStore().at(0)
        nodes = open_at(self._database, NODES, NODE_SCHEMA, generation)
        edges = open_at(self._database, EDGES, EDGE_SCHEMA, generation)
        return LanceGraphReader(nodes, edges, held=self._hold(nodes, edges) if self._held_mb else None)

    def bytes_to_hold(self, generation: int) -> int:
        """Estimate what holding *generation* would take."""
        if generation == 0 and not has_tag(self._directory, EDGES, 0):
            return 0
        nodes = open_at(self._database, NODES, NODE_SCHEMA, generation)
        return size_of_graph(nodes, open_at(self._database, EDGES, EDGE_SCHEMA, generation))

    def _hold(self, nodes: Table, edges: Table) -> tuple[HeldRows, HeldEdges] | None:
        return hold_graph(
            nodes,
            edges,
            node_columns=SHOWN_NODE,
            edge_columns=SHOWN_EDGE,
            most_bytes=self._held_mb << 20,
        )

    def show(
        self,
        generation: int,
        chunks: Callable[[], ChunkReader],
        *,
        written: Callable[[int], Collection[str] | None] = lambda _base: None,
    ) -> None:
        """Nobody looks in."""

    def shows(self, generation: int) -> bool:  # noqa: ARG002 - nobody looks in
        """Nobody looks in."""
        return True

    def writer(self) -> LanceGraphWriter:
        """The writer."""
        return LanceGraphWriter(self._database)

    def close(self) -> None:
        """Let go of the connection; it opens again on use."""
        self._connection = None

    @property
    def _database(self) -> lancedb.DBConnection:
        if self._connection is None:
            require(self._directory, NODES, EDGES)
            self._connection = connect(self._directory, self._session)
        return self._connection
