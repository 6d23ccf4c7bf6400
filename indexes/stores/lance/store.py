"""Opens the stores of an index directory. Importing this takes the driver's .4 s: import it late."""

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import lancedb
from lancedb.table import Table

from indexes.ports import ChunkReader, GraphReader, StoreState
from indexes.store_checks import check_filters
from indexes.stores.lance.chunks import LanceChunkReader, LanceChunkWriter
from indexes.stores.lance.graph import SHOWN_EDGE, SHOWN_NODE, LanceGraphReader, LanceGraphWriter
from indexes.stores.lance.held import hold_chunks, hold_graph, size_of_chunks, size_of_graph
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
    exists,
    has_tag,
    open_at,
    require,
    store_errors,
)
from indexes.table_files import tag_of
from schemas.evidence import Condition, Hit
from schemas.health import TableHealth


class EmptyChunkReader:
    """Keeps the port ChunkReader over generation 0: there are no chunks."""

    def get(self, *_: object, **__: object) -> tuple[Any, ...]:
        return ()

    of_documents = documents_containing = editions = damaged_rows = get

    def scan(self, *_: object, **__: object) -> Iterator[Any]:
        return iter(())

    text_vectors = texts = scan

    def vectors(self, *_: object, **__: object) -> Mapping[str, Any]:
        return {}

    token_vectors = row_hashes = vectors

    def search_text(self, *_: object, filters: Collection[Condition] = (), **__: object) -> tuple[Hit, ...]:
        check_filters(filters)
        return ()

    search_vector = search_text

    def state(self) -> StoreState:
        return StoreState()


class EmptyGraphReader:
    """Keeps the port GraphReader over generation 0: there are no nodes and edges."""

    def nodes(self, *_: object, **__: object) -> tuple[Any, ...]:
        return ()

    ids_between = nodes_of = edges_of = edges_from = edges_to = damaged_rows = nodes

    def scan_nodes(self, *_: object, **__: object) -> Iterator[Any]:
        return iter(())

    scan_edges = scan_nodes

    def row_hashes(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        return {}, {}

    def state(self) -> tuple[StoreState, StoreState]:
        return StoreState(), StoreState()


class _LanceStore:
    """A LanceDB directory with some *tables*; the connection opens on use.

    Args: held_mb: memory that each of its readers may keep the most asked columns in.
    """

    def __init__(
        self, directory: Path, *tables: str, session: lancedb.Session | None = None, held_mb: int = 0
    ) -> None:
        self._directory, self._tables, self._session = directory, tables, session
        self._held_bytes = held_mb << 20
        self._connection: lancedb.DBConnection | None = None

    def close(self) -> None:
        self._connection = None

    @property
    def _database(self) -> lancedb.DBConnection:
        if self._connection is None:
            require(self._directory, *self._tables)
            self._connection = connect(self._directory, self._session)
        return self._connection

    def _is_empty(self, generation: int) -> bool:
        """Whether it is generation 0, whose version may have been pruned."""
        return generation == 0 and not has_tag(self._directory, self._tables[-1], 0)


class LanceChunkStore(_LanceStore):
    """Keeps the port ChunkStore over a LanceDB directory.

    Args: optional: which of the columns there are that not all tables have.
    Raises, on use: DamageFound: the directory has no chunks; SchemaMismatch: vectors of another dimension.
    """

    def __init__(
        self,
        directory: Path,
        *,
        dim: int,
        table: str = CHUNKS,
        optional: frozenset[str] = frozenset(),
        **options: Any,
    ) -> None:
        super().__init__(directory, table, **options)
        self._dim, self._optional, self._name = dim, optional, table

    @classmethod
    def create(
        cls,
        directory: Path,
        *,
        dim: int,
        table: str = CHUNKS,
        optional: frozenset[str] = frozenset(),
        **options: Any,
    ) -> "LanceChunkStore":
        """Make an empty store where there is none, and open it."""
        create_table(directory, table, chunk_schema(dim, optional), indexes=CHUNKS)
        return cls(directory, dim=dim, table=table, optional=optional, **options)

    def at(self, generation: int) -> ChunkReader:
        if self._is_empty(generation):
            return EmptyChunkReader()
        table, most = self._table_at(generation), self._held_bytes
        held = hold_chunks(table, CHUNK_FIELDS, self._dim, most_bytes=most) if most else None
        return LanceChunkReader(table, self._dim, held=held)

    def bytes_to_hold(self, generation: int) -> int:
        """Estimate what holding *generation* would take."""
        if self._is_empty(generation):
            return 0
        return size_of_chunks(self._table_at(generation), CHUNK_FIELDS, self._dim)

    def _table_at(self, generation: int) -> Table:
        return open_at(self._database, self._name, chunk_schema(self._dim, self._optional), generation)

    def writer(self) -> LanceChunkWriter:
        return LanceChunkWriter(self._database, self._dim, table=self._name, optional=self._optional)


class LanceGraphStore(_LanceStore):
    """Keeps the port GraphStore over a LanceDB directory; nobody looks into it.

    Raises, on use: DamageFound: the directory has no graph.
    """

    def __init__(self, directory: Path, **options: Any) -> None:
        super().__init__(directory, NODES, EDGES, **options)

    @classmethod
    def create(cls, directory: Path, **options: Any) -> "LanceGraphStore":
        """Make an empty store where there is none, and open it."""
        create_table(directory, NODES, NODE_SCHEMA)
        create_table(directory, EDGES, EDGE_SCHEMA)
        return cls(directory, **options)

    def at(self, generation: int) -> GraphReader:
        if self._is_empty(generation):
            return EmptyGraphReader()
        nodes, edges = self._tables_at(generation)
        most = self._held_bytes
        columns = {"node_columns": SHOWN_NODE, "edge_columns": SHOWN_EDGE}
        held = hold_graph(nodes, edges, **columns, most_bytes=most) if most else None
        return LanceGraphReader(nodes, edges, held=held)

    def bytes_to_hold(self, generation: int) -> int:
        """Estimate what holding *generation* would take."""
        return 0 if self._is_empty(generation) else size_of_graph(*self._tables_at(generation))

    def _tables_at(self, generation: int) -> tuple[Table, Table]:
        nodes = open_at(self._database, NODES, NODE_SCHEMA, generation)
        return nodes, open_at(self._database, EDGES, EDGE_SCHEMA, generation)

    def show(
        self,
        generation: int,
        chunks: Callable[[], ChunkReader],
        *,
        written: Callable[[int], Collection[str] | None] = lambda _base: None,
    ) -> None:
        """Nobody looks in."""

    def shows(self, generation: int) -> bool:  # noqa: ARG002 - nobody looks in
        return True

    def writer(self) -> LanceGraphWriter:
        return LanceGraphWriter(self._database)


def table_health(directory: Path, tables: Collection[str], *, generation: int) -> Mapping[str, TableHealth]:
    """Describe the *tables* that are there, as *generation* reads them; nothing of them is written.

    Raises: StoreUnavailable: one cannot be read.
    """
    there = [name for name in tables if exists(directory, name) and has_tag(directory, name, generation)]
    database = connect(directory)
    found = {}
    for name in there:
        with store_errors(name):
            table = database.open_table(name)
            table.checkout(tag_of(generation))
            found[name] = _describe(table)
    return found


def _describe(table: Table) -> TableHealth:
    stats: Any = table.stats()  # a dictionary, whatever its annotation says
    fragments = stats["fragment_stats"]
    indexes = (table.index_stats(index.name) for index in table.list_indices())
    return TableHealth(
        rows=stats["num_rows"],
        unindexed_rows=max((index.num_unindexed_rows for index in indexes if index), default=0),
        fragments=fragments["num_fragments"],
        small_fragments=fragments["num_small_fragments"],
    )
