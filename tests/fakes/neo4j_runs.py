"""The program with its graph in a real Neo4j, and an index folder whose graph goes away with the test."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.neo4j_server import Neo4jServer
from tests.fakes.neo4j_stores import Neo4jStores
from tests.fakes.prefect_server import PrefectServer
from tests.fakes.sitegraph_runs import Sitegraph, sitegraph_on


@pytest.fixture(scope="module")
def on_neo4j(prefect_server: PrefectServer, neo4j_server: Neo4jServer) -> Sitegraph:
    """The program with the server's address in its settings."""
    return sitegraph_on(
        prefect_server,
        SITEGRAPH_NEO4J_URI=neo4j_server.uri,
        SITEGRAPH_NEO4J_USER=neo4j_server.user,
        SITEGRAPH_NEO4J_PASSWORD=neo4j_server.password,
    )


@pytest.fixture
def index(neo4j_server: Neo4jServer, tmp_path: Path) -> Iterator[Path]:
    """Where an index will be; what it keeps on the server is removed afterwards."""
    folder = tmp_path / "index"
    yield folder
    stores = Neo4jStores(neo4j_server)
    stores(index_id=json.loads((folder / "index.json").read_text())["index_id"])
    stores.remove()
