"""Neo4j's faults: a lost commit, a killed server, a wrong password."""

import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from indexes.ports import GraphStore, StoreState
from indexes.stores.neo4j_.store import Neo4jGraphStore
from schemas.edges import EdgeKind
from schemas.errors import ConfigError, StoreUnavailable
from tests.fakes.graph_samples import SampleGraph, make_edge, make_graph, make_page
from tests.fakes.lost_commit_proxy import LostCommitProxy
from tests.fakes.neo4j_server import JavaServer, Neo4jServer
from tests.fakes.neo4j_stores import Neo4jStores, query_session

pytestmark = [pytest.mark.system, pytest.mark.neo4j]


def publish(store: GraphStore, graph: SampleGraph, generation: int = 1) -> tuple[StoreState, StoreState]:
    writer = store.writer()
    writer.stage(generation, base=generation - 1)
    writer.apply_nodes(graph.nodes, [])
    writer.apply_edges(graph.edges, [])
    return writer.finish(generation)


@pytest.mark.parametrize("losses", [1, 4])
def test_a_batch_whose_commit_was_lost_is_applied_exactly_once(
    neo4j_server: Neo4jServer, neo4j_graph_store_factory: Neo4jStores, losses: int
) -> None:
    graph = make_graph()
    undisturbed = publish(neo4j_graph_store_factory(), graph)
    with LostCommitProxy(neo4j_server.uri, losses=0) as proxy:
        writer = neo4j_graph_store_factory(index_id=f"test-lost-{losses}", uri=proxy.uri).writer()
        writer.stage(1, base=0)
        for _ in range(losses):
            proxy.lose_another()
        writer.apply_nodes(graph.nodes, [])
        writer.apply_edges(graph.edges, [])
        assert writer.finish(1) == undisturbed
        assert proxy.lost == losses
    assert count_rows(neo4j_server, f"test-lost-{losses}") == (len(graph.nodes), len(graph.edges))


def test_what_is_read_while_a_commit_is_lost_is_read_again(
    neo4j_server: Neo4jServer, neo4j_graph_store_factory: Neo4jStores
) -> None:
    graph = make_graph()
    state = publish(neo4j_graph_store_factory(index_id="test-lost-read"), graph)
    with LostCommitProxy(neo4j_server.uri, losses=1) as proxy:
        store = neo4j_graph_store_factory(index_id="test-lost-read", uri=proxy.uri)
        assert store.at(1).state() == state
        assert proxy.lost == 1


def test_the_commit_of_each_batch_may_be_lost(
    neo4j_server: Neo4jServer, neo4j_graph_store_factory: Neo4jStores
) -> None:
    pages = [make_page(f"https://site.test/{n}") for n in range(5_000)]
    links = [make_edge(EdgeKind.LINKS_TO, pages[0], page) for page in pages]
    neo4j_graph_store_factory().create()
    with LostCommitProxy(neo4j_server.uri, losses=0) as proxy:
        store = neo4j_graph_store_factory(index_id="test-lost-each", uri=proxy.uri)
        writer = store.writer()
        writer.stage(1, base=0)
        for start in range(0, 5_000, 2_000):
            proxy.lose_another()
            writer.apply_nodes(pages[start : start + 2_000], [])
        for start in range(0, 5_000, 2_000):
            proxy.lose_another()
            writer.apply_edges(links[start : start + 2_000], [])
        writer.finish(1)
        assert proxy.lost == 6
    assert count_rows(neo4j_server, "test-lost-each") == (5_000, 5_000)


def count_rows(server: Neo4jServer, ix: str) -> tuple[int, int]:
    with query_session(server) as session:
        nodes = session.run("MATCH (v:SitegraphRev {ix: $ix}) RETURN count(v)", ix=ix).single(strict=True)
        query = "MATCH (:SitegraphRef)-[e {ix: $ix}]->(:SitegraphRef) RETURN count(e)"
        edges = session.run(query, ix=ix).single(strict=True)
    return nodes[0], edges[0]


@pytest.mark.long
def test_what_was_finished_survives_a_killed_server(
    neo4j_server: Neo4jServer, neo4j_graph_store_factory: Neo4jStores
) -> None:
    graph = make_graph()
    store = neo4j_graph_store_factory()
    before = publish(store, graph)
    reader = store.at(1)
    neo4j_server.kill()
    try:
        with pytest.raises(StoreUnavailable, match="start the server"):
            reader.nodes([graph.page.id])
    finally:
        neo4j_server.restart()
    assert reader.nodes([graph.page.id]) == (graph.page,)
    assert (store.at(1).state(), reader.damaged_rows()) == (before, ())
    assert publish(store, graph, 2) == before


@pytest.mark.long
def test_a_writer_waits_out_a_restart_in_the_middle_of_its_work(
    neo4j_server: Neo4jServer, neo4j_graph_store_factory: Neo4jStores
) -> None:
    graph = make_graph()
    store = neo4j_graph_store_factory()
    writer = store.writer()
    writer.stage(1, base=0)
    writer.apply_nodes(graph.nodes, [])
    neo4j_server.kill()
    back = threading.Thread(target=neo4j_server.restart)
    back.start()
    writer.apply_edges(graph.edges, [])
    writer.finish(1)
    back.join()
    assert len(list(store.at(1).scan_edges())) == len(graph.edges)


def test_a_wrong_password_is_a_configuration_error_that_names_the_variables_and_no_password(
    neo4j_server: Neo4jServer,
) -> None:
    store = Neo4jGraphStore(neo4j_server.uri, neo4j_server.user, "not the password", index_id="test")
    with pytest.raises(ConfigError, match="SITEGRAPH_NEO4J_PASSWORD") as error:
        store.at(1)
    store.close()
    assert "not the password" not in str(error.value)
    assert neo4j_server.password not in str(error.value)


@pytest.mark.long
def test_the_server_for_tests_ends_with_the_process_that_started_it(
    neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    if not isinstance(neo4j_server, JavaServer):
        pytest.skip("only a server under Java is started as a child process")
    starter = (
        "import time; from tests.fakes.neo4j_server import start_neo4j; "
        "print(start_neo4j().uri, flush=True); time.sleep(600)"
    )
    command, environment = [sys.executable, "-c", starter], {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout
        port = int(parent.stdout.readline().rpartition(":")[2])
        assert listens(port)
        parent.kill()
    deadline = time.monotonic() + 30
    while listens(port) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not listens(port)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
