"""The graph store on a Neo4j 5.26+ server, and how generations are staged there."""

from collections.abc import Callable, Collection, Iterable
from functools import cached_property
from operator import attrgetter
from typing import TypeVar

from indexes.digests import Told, follows_change
from indexes.ports import ChunkReader, StoreState
from indexes.stores.neo4j_.batches import BATCH_ROWS, Batches, GoOn, write_batches
from indexes.stores.neo4j_.changes import CAME, HELD_ROWS, WENT, StagedChanges, Sweeps
from indexes.stores.neo4j_.generations import (
    GenerationRecord,
    GenerationStore,
    begun,
    check_layout,
    finished,
    forgotten,
    is_shown,
    load_held,
    only,
    showing,
    shown,
)
from indexes.stores.neo4j_.reader import Neo4jGraphReader, check_kept
from indexes.stores.neo4j_.schema import (
    ALL_ROWS,
    EDGE,
    EDGE_ROWS,
    HAS_REV,
    INDEXES_THERE,
    NODE_ROWS,
    REF,
    REV,
    RowKind,
    schema_statements,
)
from indexes.stores.neo4j_.session import Connection, Transaction
from indexes.stores.neo4j_.view import ChunkNodes, added_chunks, change_view
from schemas.batches import batched
from schemas.cost import Cause, caused_by
from schemas.edges import Edge
from schemas.errors import StaleLease
from schemas.nodes import Node

T = TypeVar("T")

_ENDED_AFTER_BASE = "v.valid_from <= $base AND v.valid_to > $base AND v.valid_to < $g"
_KEY = "{ix: v.ix, id: v.id, valid_from: $g}"
_COPIED = "ON CREATE SET w = v {.*, valid_from: $g, valid_to: $open}"
_COPY_NODE = f"MATCH (n:{REF})-[:{HAS_REV}]->(v) MERGE (w:{REV} {_KEY}) {_COPIED} MERGE (n)-[:{HAS_REV}]->(w)"
_COPY_EDGE = f"WITH v, startNode(v) AS a, endNode(v) AS b MERGE (a)-[w:{EDGE} {_KEY}]->(b) {_COPIED}"


class Neo4jGraphWriter:
    """Writes one generation at a time; `GraphWriter` says what each method promises.

    Args: embeddings: whether the chunks that people see have vectors.
    """

    def __init__(self, connection: Connection, *, ix: str, embeddings: bool = False) -> None:
        self._connection = connection
        self._ix = ix
        self._embeddings = embeddings
        self._sweeps = Sweeps(connection=connection, ix=ix)
        self._generations = GenerationStore(connection, ix)
        self._batches: Batches | None = None
        self._created = False
        self._returned = False

    def create(self) -> None:
        """Make the constraints and indexes that are not there yet, and wait until they can be used.

        Raises: SchemaMismatch: an earlier version wrote the graph.
        """
        if self._created:
            return
        check_layout(self._generations.load(), self._ix)

        def work(transaction: Transaction) -> None:
            there = {row["name"] for row in transaction.run(INDEXES_THERE)}
            for name, statement in schema_statements().items():
                if name not in there:
                    transaction.run(statement)

        self._connection.write(work)
        self._connection.write(lambda transaction: transaction.run("CALL db.awaitIndexes(300)"))
        self._created = True

    def stage(self, generation: int, *, base: int) -> None:
        """Make the store equal to *base* for writing.

        Generations that were staged and not finished are undone. Those that were finished and rolled back
        may still have readers: their rows are ended here, and what they had ended comes back as new rows.
        """
        self.create()
        held = self._generations.load()
        for abandoned in sorted(held.staged | ({held.tip} & {generation}), reverse=True):
            self._undo(abandoned, base=base)
        self._generations.save(lambda held: begun(held, generation))
        self._returned = self._generations.load().tip != base
        if self._returned:
            self._return_to(base, generation)
        self._batches = Batches(ix=self._ix, generation=generation)

    def apply_nodes(self, upserts: Iterable[Node], deletes: Collection[str]) -> None:
        """Delete, then upsert, 2,000 rows a transaction, two of them at once."""
        batches = self._staged()
        self._each(sorted(set(deletes)), batches.delete_nodes, key=str)
        self._each(upserts, batches.upsert_nodes, key=_id)

    def apply_edges(self, upserts: Iterable[Edge], deletes: Collection[str]) -> None:
        """Delete, then upsert, as for nodes; a batch with a missing end is not written."""
        batches = self._staged()
        self._each(sorted(set(deletes)), batches.delete_edges, key=str)
        self._each(upserts, batches.upsert_edges, key=_id)

    def finish(
        self, generation: int, *, before: tuple[StoreState, StoreState] | None = None
    ) -> tuple[StoreState, StoreState]:
        """Show *generation* to readers and give what it contains."""
        with caused_by(Cause.DIGESTS):
            state = self._state(generation, before)
        self._generations.save(lambda held: finished(held, generation))
        return state

    def _state(
        self, generation: int, before: tuple[StoreState, StoreState] | None
    ) -> tuple[StoreState, StoreState]:
        reader = Neo4jGraphReader(self._connection, ix=self._ix, generation=generation, checked=False)
        batches = self._staged()
        if before is None or self._returned:
            return reader.state()
        changes = StagedChanges(connection=self._connection, ix=self._ix, generation=generation)
        nodes, edges = before

        def after(known: StoreState, told: Told, rows: RowKind) -> StoreState:
            return changes.after(known, told, rows) if follows_change(known, told) else reader.state_of(rows)

        return after(nodes, batches.told_nodes, NODE_ROWS), after(edges, batches.told_edges, EDGE_ROWS)

    def abort(self, generation: int, *, base: int) -> None:
        """Remove the rows of *generation* and open again those it had ended; *base* was never touched."""
        self.create()
        held = self._generations.load()
        if generation in held.staged | {held.tip}:
            self._undo(generation, base=base)
        self._batches = None

    def show(
        self,
        generation: int,
        chunks: Callable[[], ChunkReader],
        written: Callable[[int], Collection[str] | None],
    ) -> None:
        """Let people see *generation*, with what its chunks say; goes on where a crash broke it off.

        Raises: ConfigError: another index of the database has vectors of another dimension.
        """
        self.create()
        held = self._generations.load()
        if is_shown(held, generation, embedded=self._embeddings):
            return
        self._change_view(generation)
        if generation:
            nodes = ChunkNodes(connection=self._connection, ix=self._ix, embedded=self._embeddings)
            nodes.fill(chunks(), self._emptied(held, generation, written))
        self._generations.save(lambda held: shown(held, generation, embedded=self._embeddings))

    def _emptied(
        self,
        held: GenerationRecord,
        generation: int,
        written: Callable[[int], Collection[str] | None],
    ) -> frozenset[str] | None:
        """Ids of all chunks whose nodes may say what is no longer so; None where they are not known, or many.

        They are known where people saw whole what the generation was built on.
        """
        base = held.view_high
        if base >= generation or not is_shown(held, base, embedded=self._embeddings):
            return None
        added = added_chunks(self._sweeps, low=base, high=generation)
        ids = None if added is None else written(base)
        if added is None or ids is None or len(added) + len(ids) > HELD_ROWS:
            return None
        return added.union(ids)

    def maintain(self, generation: int, *, fence: Callable[[], None]) -> None:
        """The server keeps its files in order by itself."""

    def prune(self, *, keep: Collection[int]) -> None:
        """Hide all generations but *keep*, then remove ended rows that none of them shows."""
        self.create()
        held, newest = self._generations.load(), max(keep)
        if {held.view_low, held.view_high} != {newest}:
            self._change_view(newest)  # of rows that are gone it could not tell what it still shows
        self._generations.save(lambda held: only(held, keep))
        unseen = "NOT any(k IN $keep WHERE v.valid_from <= k AND k < v.valid_to)"
        for rows in ALL_ROWS:
            self._sweeps.over(
                rows,
                f"v.valid_to <= $newest AND v.valid_from < $newest AND {unseen}",
                rows.delete,
                keep=sorted(keep),
                newest=newest,
            )

    def _change_view(self, generation: int) -> None:
        """Let the view have the rows of *generation*; that it may have others is known until it is shown."""
        held = self._generations.save(lambda held: showing(held, generation))
        change_view(self._sweeps, low=held.view_low, high=held.view_high, to=generation)

    def _undo(self, generation: int, *, base: int) -> None:
        """Leave no row of *generation*; it counts as staged until the end, so that a crash here is seen."""
        held = self._generations.save(lambda held: begun(held, generation))
        if held.view_high >= generation:
            self._change_view(base)
        for rows in ALL_ROWS:
            self._sweeps.over(rows, CAME, rows.delete, g=generation)
        for rows in ALL_ROWS:
            self._sweeps.over(rows, WENT, "SET v.valid_to = $open", g=generation)
        self._generations.save(lambda held: forgotten(held, generation))

    def _return_to(self, base: int, generation: int) -> None:
        """End what came after *base*, and add again what was ended after it."""
        for rows in ALL_ROWS:
            self._end_rows_after(rows, base, generation)
        for rows, copy in ((NODE_ROWS, _COPY_NODE), (EDGE_ROWS, _COPY_EDGE)):
            self._sweeps.over(rows, _ENDED_AFTER_BASE, copy, base=base, g=generation)

    def _end_rows_after(self, rows: RowKind, base: int, generation: int) -> None:
        rolled_back = "v.valid_from > $base AND v.valid_from < $g AND v.valid_to = $open"
        self._sweeps.over(rows, rolled_back, "SET v.valid_to = $g", base=base, g=generation)

    def _each(
        self,
        items: Iterable[T],
        write: Callable[[Transaction, list[T]], None],
        *,
        key: Callable[[T], str],
    ) -> None:
        def write_one(batch: list[T], go_on: GoOn) -> None:
            def work(transaction: Transaction) -> None:
                go_on()
                write(transaction, batch)
                go_on()

            self._connection.write(work)

        write_batches(batched(items, BATCH_ROWS), write_one, key=key)

    def _staged(self) -> Batches:
        if self._batches is None:
            raise StaleLease("no generation is staged here; call stage() first", subject=self._ix)
        return self._batches


_id: Callable[[Node | Edge], str] = attrgetter("id")


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
        held = self._reading.read(lambda transaction: load_held(transaction, self._ix))
        return {held.view_low, held.view_high} == {generation}

    def close(self) -> None:
        self._reading.close()
        self._writing.close()

    @cached_property
    def _writer(self) -> Neo4jGraphWriter:
        return Neo4jGraphWriter(self._writing, ix=self._ix, embeddings=self._embeddings)
