"""How the server looks for rows: by an index, at the cost of those asked for."""

from collections.abc import Iterator
from typing import Any

import pytest

from indexes.ports import ChunkReader
from indexes.stores.neo4j_ import session
from indexes.stores.neo4j_.changes import StagedChanges
from indexes.stores.neo4j_.schema import LOOKED_UP
from indexes.stores.neo4j_.store import Neo4jGraphStore
from schemas.edges import Edge, EdgeKind
from schemas.nodes import Node
from tests.fakes.graph_generations import publish
from tests.fakes.graph_samples import DIM, make_edge, make_entity, make_page
from tests.fakes.memory_stores import MemoryChunkStore
from tests.fakes.neo4j_server import Neo4jServer
from tests.fakes.neo4j_stores import Neo4jStores, query_session

pytestmark = pytest.mark.neo4j

Said = dict[str, dict[str, Any]]
PAGES = 900


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Said:
    """Every statement that is run, with its last parameters."""
    heard: Said = {}
    run, sweep = session.Transaction.run, session.Connection.sweep

    def heard_run(self: session.Transaction, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        heard[statement] = parameters
        return run(self, statement, **parameters)

    def heard_sweep(self: session.Connection, statement: str, **parameters: Any) -> None:
        heard[statement] = parameters
        sweep(self, statement, **parameters)

    monkeypatch.setattr(session.Transaction, "run", heard_run)
    monkeypatch.setattr(session.Connection, "sweep", heard_sweep)
    return heard


@pytest.fixture
def store(neo4j_graph_store_factory: Neo4jStores) -> Neo4jGraphStore:
    return neo4j_graph_store_factory()


def many() -> tuple[list[Node], list[Edge]]:
    """Pages that all link to the next four, to themselves and to one hub, enough to be several batches."""
    pages = [make_page(f"https://site.test/{number}") for number in range(PAGES)]
    hub = make_entity("Hub")
    links = [
        make_edge(EdgeKind.LINKS_TO, page, pages[(number + step) % PAGES])
        for number, page in enumerate(pages)
        for step in range(5)
    ]
    return [*pages, hub], [*links, *(make_edge(EdgeKind.NAMES, hub, page) for page in pages)]


def no_passages() -> ChunkReader:
    return MemoryChunkStore(dim=DIM).at(0)


def operators(plan: dict[str, Any]) -> Iterator[str]:
    yield plan["operatorType"].partition("@")[0]
    for child in plan.get("children", ()):
        yield from operators(child)


def rows_of(profile: dict[str, Any]) -> Iterator[int]:
    """How many rows each operator gave."""
    yield profile["rows"]
    for child in profile.get("children", ()):
        yield from rows_of(child)


def test_no_statement_reads_all_rows_of_a_kind_to_find_some(
    store: Neo4jGraphStore, said: Said, neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StagedChanges, "_is_alone", lambda _changes: True)
    nodes, edges = many()
    before = publish(store, 1, nodes, edges)
    store.show(1, no_passages)
    changed, gone = [make_page("https://site.test/0", title="Other")], edges[:3]
    publish(store, 2, changed, gone_edges=[edge.id for edge in gone], before=before)
    store.show(2, no_passages, written=lambda _base: ())
    store.show(1, no_passages)
    store.at(1).nodes([nodes[0].id])
    for kinds in (None, [EdgeKind.LINKS_TO, EdgeKind.NAMES]):
        store.at(1).edges_from([nodes[0].id], kinds=kinds)
        store.at(1).edges_to([nodes[0].id], kinds=kinds)
    store.writer().prune(keep=[2])

    scans = {}
    with query_session(neo4j_server) as opened:
        for statement, parameters in said.items():
            if statement.startswith(("MATCH", "UNWIND")) and "SitegraphIndex" not in statement:
                explained = opened.run(f"CYPHER replan=force EXPLAIN {statement}", parameters).consume()
                if found := [name for name in operators(explained.plan or {}) if "Scan" in name]:
                    scans[statement] = found
    assert scans == {}


def test_a_hop_by_kind_from_a_node_of_many_edges_reads_no_edge_of_another_kind(
    store: Neo4jGraphStore, said: Said, neo4j_server: Neo4jServer
) -> None:
    nodes, edges = many()
    *pages, hub = nodes
    into = [make_edge(EdgeKind.MENTIONS, page, hub) for page in pages]
    few = make_edge(EdgeKind.RELATED, hub, pages[0]), make_edge(EdgeKind.ALIAS_OF, pages[0], hub)
    publish(store, 1, nodes, [*edges, *into, *few])
    reader = store.at(1)
    for hop, edge in zip((reader.edges_from, reader.edges_to), few, strict=True):
        said.clear()
        assert hop([hub.id], kinds=[edge.kind]) == (edge,)
        (asked,) = ((text, values) for text, values in said.items() if "kinds" in values)
        with query_session(neo4j_server) as opened:
            profile = opened.run(f"PROFILE {asked[0]}", asked[1]).consume().profile
        assert max(rows_of(profile or {})) == 1


def test_a_look_up_by_each_property_that_the_manual_calls_indexed_is_no_scan(
    store: Neo4jGraphStore, neo4j_server: Neo4jServer
) -> None:
    store.create()
    asked = [(label, name) for label, names in LOOKED_UP.items() for name in names]
    with query_session(neo4j_server) as opened:
        for label, name in asked:
            plan = opened.run(f"EXPLAIN MATCH (n:{label} {{{name}: 'x'}}) RETURN n").consume().plan
            assert "NodeIndexSeek" in list(operators(plan or {})), (label, name)
