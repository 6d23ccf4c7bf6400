"""An index with its graph beside it, and one with its graph in a real Neo4j: the same test over both."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fakes.neo4j_runs import remove_graph
from tests.fakes.neo4j_server import Neo4jServer, settings_of
from tests.fakes.sitegraph_runs import Sitegraph, sitegraph_here


@dataclass(frozen=True, slots=True)
class Place:
    """A program, and where its index is."""

    program: Sitegraph
    index: Path


@pytest.fixture(params=["lance", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """The graph in LanceDB and in Neo4j; what is on the server is removed afterwards."""
    index = tmp_path / "index"
    if request.param == "lance":
        yield Place(sitegraph_here(), index)
        return
    server: Neo4jServer = request.getfixturevalue("neo4j_server")
    yield Place(sitegraph_here(SITEGRAPH_GRAPH="neo4j", **settings_of(server)), index)
    remove_graph(server, index)
