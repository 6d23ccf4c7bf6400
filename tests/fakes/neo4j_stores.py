"""Empty graph stores on one Neo4j server, each an index of its own."""

import fcntl
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import neo4j

from indexes.stores.neo4j_.store import Neo4jGraphStore
from tests.fakes.neo4j_server import Neo4jServer


@contextmanager
def vector_index_alone(server: Neo4jServer) -> Iterator[None]:
    """Let nobody else use the vector index, of which a server has one for all of its graphs, meanwhile."""
    name = f"sitegraph-vector-index-{server.uri.rpartition(':')[2]}.lock"
    with (Path(tempfile.gettempdir()) / name).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class Neo4jStores:
    """Makes empty stores; a call gives a new index, or opens the index of an *index_id* again."""

    def __init__(self, server: Neo4jServer) -> None:
        self._server = server
        self._stores: list[Neo4jGraphStore] = []
        self._indexes: set[str] = set()

    def __call__(self, *, index_id: str | None = None, uri: str | None = None) -> Neo4jGraphStore:
        """Args: uri: another way to the same server, such as a proxy."""
        ix = index_id or f"test-{uuid.uuid4().hex}"
        server = self._server
        store = Neo4jGraphStore(uri or server.uri, server.user, server.password, index_id=ix)
        self._stores.append(store)
        self._indexes.add(ix)
        return store

    def remove(self) -> None:
        """Close the stores and remove what they wrote, and nothing else."""
        for store in self._stores:
            store.close()
        with query_session(self._server) as session:
            for statement in (
                "MATCH (n:SitegraphRev) WHERE n.ix IN $ixs CALL (n) { DETACH DELETE n } IN TRANSACTIONS",
                "MATCH (n:SitegraphNode) WHERE n.ix IN $ixs CALL (n) { DETACH DELETE n } IN TRANSACTIONS",
                "MATCH (n:SitegraphRef) WHERE n.ix IN $ixs CALL (n) { DETACH DELETE n } IN TRANSACTIONS",
                "MATCH (n:SitegraphIndex) WHERE n.id IN $ixs DETACH DELETE n",
            ):
                session.run(statement, ixs=sorted(self._indexes)).consume()


@contextmanager
def query_session(server: Neo4jServer) -> Iterator[neo4j.Session]:
    """Return a session to look, past the store, at what the server holds."""
    auth = (server.user, server.password)
    with (
        neo4j.GraphDatabase.driver(server.uri, auth=auth, notifications_min_severity="OFF") as driver,
        driver.session() as session,
    ):
        yield session
