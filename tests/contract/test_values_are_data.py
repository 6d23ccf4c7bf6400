"""Rows asked for by value: whatever stands in it, exactly the rows that have it come back.

`long` asks for 2,000 values of each store, the ordinary suite for some.
"""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from indexes.ports import ChunkStore, GraphStore
from indexes.stores.lance.scan import one_of
from indexes.stores.ledger.ledger import Ledger
from indexes.stores.neo4j_.store import Neo4jGraphStore
from schemas.edges import EdgeKind
from schemas.errors import FilterError
from schemas.evidence import Filter, LeftOut, SearchField
from schemas.nodes import Entity
from tests.fakes.chunk_generations import ids, row
from tests.fakes.chunk_generations import publish as publish_chunks
from tests.fakes.graph_generations import publish as publish_graph
from tests.fakes.graph_samples import axis, make_edge, make_entity
from tests.fakes.ledger_rows import SITE, make_known

SIGNS = (
    *(
        "'",
        "''",
        "\\",
        "\\'",
        '"',
        "`",
        "%",
        "_",
        "*",
        "?",
        "[a]",
        ";",
        "--",
        "/*",
        "*/",
        "#",
        "$1",
        ":a",
        "{",
    ),
    *(
        "\0",
        "\n",
        "\r",
        " ",
        "é",
        "e\u0301",
        "ß",
        "\U0010ffff",
        "null",
        "or",
        "')) OR (1=1) --",
        "') OR true /*",
    ),
)
VALUES = st.lists(st.sampled_from(SIGNS) | st.characters(codec="utf-8"), max_size=8).map("".join)
HALF = "half \ud800"
numbers = pytest.mark.parametrize("number", [40, pytest.param(2000, marks=pytest.mark.long)])


def values(number: int) -> list[str]:
    """Draw so many different values, and the one of the injection among them."""
    drawn = {"\\')) OR (1=1) --"}

    @settings(
        max_examples=number,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(VALUES)
    def draw(value: str) -> None:
        if len(drawn) < number:
            drawn.add(value)

    while len(drawn) < number:
        draw()
    return sorted(drawn)


@numbers
def test_chunks_asked_for_by_value_are_those_that_have_it(chunk_store: ChunkStore, number: int) -> None:
    rows = {
        value: row(
            f"<{value}>",
            id=f"chunk:{value}",
            doc=f"page:{value}",
            source=value,
            domain=value,
            status="current",
            tool_names=("t", value),
        )
        for value in values(number)
    }
    publish_chunks(chunk_store, 1, rows.values())
    reader = chunk_store.at(1)

    def found(*filters: Filter | LeftOut, top_k: int = 9) -> list[str]:
        hits = reader.search_vector(SearchField.TEXT, axis(0), top_k=top_k, filters=filters)
        return sorted(hit.chunk_id for hit in hits)

    for value, (chunk, _) in rows.items():
        assert reader.get([chunk.id]) == reader.of_documents([chunk.doc]) == (chunk,)
        says = f"<{value}>"
        assert reader.documents_containing([says]) == tuple(
            sorted(one.doc for one, _ in rows.values() if says in one.text)
        )
        assert tuple(reader.scan(source=value)) == (chunk,)
        for field in ("domain", "tool_names"):
            one = Filter(field=field, values=(value,))
            assert found(one) == [chunk.id]
        assert found(one, Filter(field="status", values=("old",))) == []
    some = tuple(sorted(rows)[::3])
    kept = ids([rows[value] for value in some])
    assert found(Filter(field="domain", values=some), top_k=number) == kept
    others = sorted({*ids(list(rows.values()))} - {*kept})
    assert found(LeftOut(where=(Filter(field="domain", values=some),)), top_k=number) == others
    publish_chunks(chunk_store, 2, [], kept)
    assert sorted(chunk_store.at(2).row_hashes()) == others


@numbers
def test_nodes_and_edges_asked_for_by_value_are_those_that_have_it(
    graph_store: GraphStore, number: int
) -> None:
    nodes = {value: entity(value) for value in values(number)}
    hub = make_entity("Hub")
    edges = {value: make_edge(EdgeKind.NAMES, hub, node) for value, node in nodes.items()}
    publish_graph(graph_store, 1, [hub, *nodes.values()], list(edges.values()))
    reader = graph_store.at(1)
    for value, node in nodes.items():
        assert reader.nodes([node.id]) == reader.nodes_of([node.doc]) == (node,)
        assert reader.ids_between(node.id, f"{node.id}\0", limit=9) == (node.id,)
        assert reader.edges_to([node.id]) == (edges[value],)
        assert value == "" or tuple(reader.scan_nodes(source=value)) == (node,)
    gone = sorted(nodes)[::3]
    publish_graph(
        graph_store,
        2,
        gone_nodes=[nodes[value].id for value in gone],
        gone_edges=[edges[value].id for value in gone],
    )
    left = {node.id for value, node in nodes.items() if value not in {*gone}}
    assert {node.id for node in graph_store.at(2).scan_nodes()} == {*left, hub.id}


def entity(value: str) -> Entity:
    """A node with the value wherever one is asked for."""
    plain = make_entity("x")
    return replace(plain, id=f"entity:{value}", doc=f"entity:{value}", name=value, source=value)


@numbers
def test_documents_of_the_ledger_asked_for_by_value_are_those_that_have_it(
    ledger: Ledger, number: int
) -> None:
    drawn = values(number)
    known = [
        make_known(f"{place}/{value}", doc=f"page:{value}", doc_id=value, location=f"{SITE}/{value}/new")
        for place, value in enumerate(drawn)
    ]
    ledger.documents.save(known)
    same = Counter(map(held, drawn))
    alike = Counter(lower(held(value)) for value in drawn)
    uris = [held(one.uri) for one in known]
    lookup = ledger.lookup
    for value, document in zip(drawn, known, strict=True):
        tail = f"/{held(value)}"
        assert [held(document.uri)] == [one.uri for one in lookup.by_uris([document.uri])]
        assert len(lookup.by_doc(document.doc or "")) == len(lookup.leading_to(document.location or ""))
        assert len(lookup.by_doc(document.doc or "")) == same[held(value)]
        assert len(lookup.by_doc_id(value)) == alike[lower(held(value))]
        assert {one.uri for one in lookup.ending_with(value, limit=number)} == {
            uri for uri in uris if uri.endswith(tail)
        }


def held(value: str) -> str:
    """A text as both databases can hold it."""
    return value.replace("\0", "\ufffd")


def lower(value: str) -> str:
    return value.encode().lower().decode()


def test_half_a_character_is_refused_in_one_line_or_replaced(ledger: Ledger) -> None:
    with pytest.raises(FilterError, match=r"^'half \\ud800': is not UTF-8, so no index holds it$"):
        one_of("domain", [HALF])
    ledger.documents.save([make_known("half", doc=HALF)])
    assert [one.doc for one in ledger.lookup.by_doc(HALF)] == ["half \ufffd"]


@pytest.mark.neo4j
def test_half_a_character_is_refused_by_neo4j_and_the_next_value_is_found(
    neo4j_graph_store_factory: "type[Neo4jGraphStore]",
) -> None:
    store: Neo4jGraphStore = neo4j_graph_store_factory()
    publish_graph(store, 1, [hub := make_entity("Hub")])
    with pytest.raises(FilterError, match="is not UTF-8, so no index holds it"):
        store.at(1).nodes([HALF])
    assert store.at(1).nodes([hub.id]) == (hub,)
