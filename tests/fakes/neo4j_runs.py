"""The program with its graph in a real Neo4j, and an index folder whose graph goes away with the test."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.neo4j_server import Neo4jServer, settings_of
from tests.fakes.neo4j_stores import Neo4jStores, query_session
from tests.fakes.sitegraph_runs import Sitegraph, sitegraph_here

Counts = tuple[dict[str, int], dict[str, int]]


@pytest.fixture(scope="module")
def on_neo4j(neo4j_server: Neo4jServer, tmp_path_factory: pytest.TempPathFactory) -> Sitegraph:
    """The program with the server's address in its settings."""
    return sitegraph_here(tmp_path_factory.mktemp("prefect"), **settings_of(neo4j_server))


@pytest.fixture
def index(neo4j_server: Neo4jServer, tmp_path: Path) -> Iterator[Path]:
    """Where an index will be; what it keeps on the server is removed afterwards."""
    folder = tmp_path / "index"
    yield folder
    remove_graph(neo4j_server, folder)


def seen(server: Neo4jServer, index: Path, kinds: Counts) -> Counts:
    """How many nodes of each label and relationships of each type people count, of the kinds there are."""
    ix = json.loads((index / "index.json").read_text())["index_id"]
    with query_session(server) as session:
        nodes = {
            label: session.run(f"MATCH (n:{label} {{ix: $ix}}) RETURN count(n)", ix=ix).single(strict=True)[0]
            for label in kinds[0]
        }
        edges = {
            kind: session.run(f"MATCH ({{ix: $ix}})-[e:{kind.upper()}]->() RETURN count(e)", ix=ix).single(
                strict=True
            )[0]
            for kind in kinds[1]
        }
    return nodes, edges


def exported(sitegraph: Sitegraph, index: Path) -> Counts:
    """The same by the export."""
    export = sitegraph.export(index)
    return dict(Counter(row["kind"] for row in export["nodes"])), dict(
        Counter(row["kind"] for row in export["edges"])
    )


def texts_seen(server: Neo4jServer, index: Path) -> dict[str, str | None]:
    """By id what people read of each chunk."""
    ix = json.loads((index / "index.json").read_text())["index_id"]
    with query_session(server) as session:
        rows = session.run("MATCH (c:Chunk {ix: $ix}) RETURN c.id AS id, c.text AS text", ix=ix)
        return {row["id"]: row["text"] for row in rows}


def texts(sitegraph: Sitegraph, index: Path) -> dict[str, str | None]:
    """The same by the export."""
    return {row["id"]: row["text"] for row in sitegraph.export(index)["chunks"]}


def remove_graph(server: Neo4jServer, index: Path) -> None:
    """Remove what an index keeps on a server."""
    stores = Neo4jStores(server)
    stores(index_id=json.loads((index / "index.json").read_text())["index_id"])
    stores.remove()
