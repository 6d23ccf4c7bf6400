"""Fixtures that every test may use."""

from collections.abc import Callable, Iterator

import pytest

from indexes.ports import GraphStore
from tests.fakes.neo4j_server import Neo4jServer, running_neo4j


@pytest.fixture(scope="session")
def neo4j_server() -> Iterator[Neo4jServer]:
    """A real Neo4j, one for all tests; it is started by the first that asks."""
    with running_neo4j() as server:
        yield server


@pytest.fixture
def neo4j_graph_store_factory(neo4j_server: Neo4jServer) -> Iterator[Callable[..., GraphStore]]:
    """Makes empty graph stores on the server, each an index of its own."""
    from tests.fakes.neo4j_stores import Neo4jStores

    stores = Neo4jStores(neo4j_server)
    yield stores
    stores.remove()
