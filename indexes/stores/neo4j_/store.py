"""The graph store on a Neo4j 5.26+ server.

People look in with Neo4j Browser. The live graph, as the newest finished generation holds it::

    MATCH (a:Ref {ix: 'default', live: true})
    OPTIONAL MATCH (a)-[e]->(b:Ref {live: true}) WHERE e.valid_to = 9007199254740991
    RETURN a, e, b LIMIT 300

`Ref`s carry the properties of their live row for this. They follow a generation when it is finished; after
a rollback they show the rolled-back one until the next is finished. Our readers never use them.
"""

from functools import cached_property

from indexes.stores.neo4j_.reader import Neo4jGraphReader, check_kept
from indexes.stores.neo4j_.session import Connection
from indexes.stores.neo4j_.writer import Neo4jGraphWriter

_READ_RETRY_SECONDS = 2.0
_WRITE_RETRY_SECONDS = 60.0


class Neo4jGraphStore:
    """One index in a Neo4j database, which others may share.

    Nothing connects before the first call that needs the server. Reading gives up after 2 s, so that a
    query can be answered without the graph; writing waits a minute for a server that restarts.

    Args: index_id: tells the indexes of one database apart.
    """

    def __init__(self, uri: str, user: str, password: str, *, index_id: str) -> None:
        self._ix = index_id
        self._reading = Connection(uri, user, password, retry_seconds=_READ_RETRY_SECONDS)
        self._writing = Connection(uri, user, password, retry_seconds=_WRITE_RETRY_SECONDS)

    def create(self) -> None:
        """Make constraints and indexes; harmless to repeat."""
        self._writer.create()

    def at(self, generation: int) -> Neo4jGraphReader:
        """Give a reader pinned to *generation*; 0 is the empty index.

        Raises: StoreUnavailable: the server cannot be reached, or the generation is not kept.
        ConfigError: the address, user or password is wrong.
        """
        if generation:
            self._reading.read(lambda transaction: check_kept(transaction, self._ix, generation))
        return Neo4jGraphReader(self._reading, ix=self._ix, generation=generation)

    def writer(self) -> Neo4jGraphWriter:
        """Give the writer; the same at each call."""
        return self._writer

    def close(self) -> None:
        """Let go of both connections."""
        self._reading.close()
        self._writing.close()

    @cached_property
    def _writer(self) -> Neo4jGraphWriter:
        return Neo4jGraphWriter(self._writing, ix=self._ix)
