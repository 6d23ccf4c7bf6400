"""The walk of the wiki's deep path over graph stores: nothing but what is in the graph, and the same."""

from collections.abc import Collection

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from indexes.ports import GraphStore
from retrieval.wiki.subgraph import (
    MIN_CONFIDENCE,
    NODES_MAX,
    Subgraph,
    best_chain,
    read_subgraph,
    to_subgraph_record,
)
from schemas.edges import Edge, EdgeKind
from schemas.ids import edge_id
from schemas.nodes import Entity
from tests.fakes.graph_generations import publish
from tests.fakes.graph_samples import make_entity
from tests.fakes.memory_stores import MemoryGraphStore

NAMES = [make_entity(f"Thing {number}", source="s") for number in range(70)]
CONFIDENCES = (0.2, 0.59, MIN_CONFIDENCE, 0.7, 0.95, 1.0)


def edge(src: Entity, dst: Entity, confidence: float, predicate: str) -> Edge:
    return Edge(
        id=edge_id(EdgeKind.RELATED, src.id, dst.id, predicate),
        kind=EdgeKind.RELATED,
        src=src.id,
        dst=dst.id,
        doc="page:x",
        source="s",
        confidence=confidence,
        chunk="chunk:x",
        text="words",
        predicate=predicate,
    )


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Entity], list[Edge], list[str]]:
    """Return nodes, edges between them, and seeds of which some are no node; hubs are as likely as chains."""
    nodes = NAMES[: draw(st.sampled_from([1, 4, 12, 70]))]
    ends = st.sampled_from(nodes)
    edges = st.builds(edge, ends, ends, st.sampled_from(CONFIDENCES), st.sampled_from(["uses", "is part of"]))
    listed = draw(st.lists(edges, max_size=20, unique_by=lambda one: one.id))
    hub = [edge(nodes[0], other, draw(st.sampled_from(CONFIDENCES)), "has") for other in nodes[1:]]
    seeds = draw(st.lists(st.sampled_from([*NAMES[:14], make_entity("No node")]), max_size=10))
    return nodes, [*listed, *(hub if draw(st.booleans()) else [])], [seed.id for seed in seeds]


def walked(
    store: GraphStore, nodes: Collection[Entity], edges: Collection[Edge], seeds: list[str]
) -> Subgraph:
    publish(store, 1, nodes, edges, base=0)
    return read_subgraph(store.at(1), seeds)


@pytest.mark.parametrize("graph_store", ["memory", "lance"], indirect=True)
@given(graphs())
@settings(
    max_examples=12,
    phases=[Phase.generate],  # to shrink a failure would write thousands of graphs
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_a_node_or_edge_that_is_not_in_the_graph_never_comes_out_and_every_store_gives_the_same(
    graph_store: GraphStore, drawn: tuple[list[Entity], list[Edge], list[str]]
) -> None:
    nodes, edges, seeds = drawn
    found = walked(graph_store, nodes, edges, seeds)

    assert set(found.nodes) <= set(nodes)
    assert set(found.edges) <= {one for one in edges if one.confidence >= MIN_CONFIDENCE}
    assert {end for one in found.edges for end in (one.src, one.dst)} <= found.hops.keys()
    assert set(found.seeds) == set(seeds) & {node.id for node in nodes}
    assert found.hops == _by_hand(nodes, edges, found.seeds)
    assert list(found.hops) == list(_by_hand(nodes, edges, found.seeds))
    chain = best_chain(found.seeds, found.edges, things={seed: seed for seed in found.seeds})
    assert chain is None or set(chain.edges) <= set(found.edges)
    record = to_subgraph_record(found, {})
    assert set(record["nodes"]) == found.hops.keys()
    assert found == walked(MemoryGraphStore(), list(reversed(nodes)), list(reversed(edges)), seeds[::-1])


def _by_hand(nodes: list[Entity], edges: list[Edge], seeds: Collection[str]) -> dict[str, int]:
    """The definition, without a store: seeds, then by hop, each by (-best confidence, id), fifty in all."""
    kept = dict.fromkeys(sorted(seeds), 0)
    for hop in (1, 2):
        best: dict[str, float] = {}
        front = {node for node, at in kept.items() if at == hop - 1}
        for one in edges:
            for here, there in ((one.src, one.dst), (one.dst, one.src)):
                if one.confidence >= MIN_CONFIDENCE and here in front and there not in kept:
                    best[there] = max(best.get(there, 0), one.confidence)
        ranked = sorted(best, key=lambda node: (-best[node], node))
        kept |= dict.fromkeys(ranked[: NODES_MAX - len(kept)], hop)
    return kept
