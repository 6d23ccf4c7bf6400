"""Generations of a graph store."""

from collections.abc import Collection

from indexes.ports import GraphStore, StoreState
from schemas.edges import Edge
from schemas.nodes import Node
from tests.fakes.graph_samples import SampleGraph

States = tuple[StoreState, StoreState]


def publish(
    store: GraphStore,
    generation: int,
    nodes: Collection[Node] = (),
    edges: Collection[Edge] = (),
    *,
    gone_nodes: Collection[str] = (),
    gone_edges: Collection[str] = (),
    base: int = -1,
    before: States | None = None,
) -> States:
    """Stage, apply and finish on top of *base*, the generation before unless given; *before* is its state."""
    writer = store.writer()
    writer.stage(generation, base=generation - 1 if base < 0 else base)
    writer.apply_nodes(iter(nodes), gone_nodes)
    writer.apply_edges(iter(edges), gone_edges)
    return writer.finish(generation, before=before)


def publish_graph(store: GraphStore, graph: SampleGraph, generation: int = 1) -> States:
    """Write all of a graph."""
    return publish(store, generation, graph.nodes, graph.edges)


def same_content(one: States, other: States) -> bool:
    """Whether counts and digests are equal, whatever the generations."""
    return [(s.counts, s.digest) for s in one] == [(s.counts, s.digest) for s in other]


def by_id(items: Collection[Node] | Collection[Edge]) -> list[str]:
    """Ids of nodes or edges, in order."""
    return sorted(item.id for item in items)
