"""The evidence chain: a real path, the best there is, drawn as its edges point."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.wiki.subgraph import best_chain
from schemas.edges import Edge, EdgeKind, plain_edge

NODES = "abcdef"


def edge(src: str, dst: str, confidence: float = 1.0, predicate: str | None = None) -> Edge:
    plain = plain_edge(EdgeKind.RELATED, src, dst, doc=src, source="s")
    return replace(plain, id=f"{src}{dst}{predicate}", confidence=confidence, predicate=predicate)


APART = {node: node for node in NODES}


def test_a_chain_is_drawn_as_its_edges_point() -> None:
    chain = best_chain(["a", "c"], [edge("a", "b", predicate="causes"), edge("c", "b")], things=APART)
    assert chain is not None
    assert (
        chain.render({"a": "memory leak", "b": "crash"}) == "memory leak --[causes]--> crash <--[related]-- c"
    )


def test_fewest_hops_win_then_the_product_of_confidences_then_ids() -> None:
    long_and_sure = [edge("a", "b"), edge("b", "c"), edge("c", "d")]
    short = [edge("a", "e", 0.6), edge("e", "d", 0.9), edge("a", "f", 0.9), edge("f", "d", 0.6)]
    for listed in permutations([*long_and_sure, *short[:2]]):
        chain = best_chain(["a", "d"], listed, things=APART)
        assert chain is not None
        assert chain.nodes == ("a", "e", "d")
    tied = best_chain(["a", "d"], [*reversed(short), edge("a", "b")], things=APART)
    assert tied is not None
    assert tied.nodes == ("a", "e", "d")
    surer = best_chain(["a", "d"], [*short, edge("a", "c", 0.8), edge("c", "d", 0.7)], things=APART)
    assert surer is not None
    assert surer.nodes == ("a", "c", "d")


def test_of_several_edges_between_two_nodes_the_surest_is_shown() -> None:
    edges = [edge("a", "b", 0.7, "x"), edge("a", "b", 0.9, "y"), edge("b", "a", 0.9, "z")]
    chain = best_chain(["a", "b"], edges, things=APART)
    assert chain is not None
    assert chain.edges[0].predicate == "y"


def test_no_path_is_no_chain() -> None:
    assert best_chain(["a", "d"], [edge("a", "b"), edge("c", "d"), edge("a", "a")], things=APART) is None
    assert best_chain(["a"], [edge("a", "b")], things=APART) is None
    assert best_chain([], [], things=APART) is None


def test_no_path_is_sought_inside_of_one_thing() -> None:
    edges = [edge("a", "b"), edge("b", "c", 0.6)]
    chain = best_chain("abc", edges, things={"a": "page", "b": "page", "c": "other"})
    assert chain is not None
    assert chain.nodes == ("b", "c")
    assert best_chain("ab", edges, things={"a": "page", "b": "page"}) is None


EDGES = st.lists(
    st.builds(
        edge, st.sampled_from(NODES), st.sampled_from(NODES), st.sampled_from([0.6, 0.7, 0.8, 0.9, 1.0])
    ),
    max_size=14,
    unique_by=lambda one: one.id,
)


@given(EDGES, st.sets(st.sampled_from(NODES), min_size=2), st.randoms())
@settings(max_examples=100, deadline=None)
def test_the_chain_is_the_best_of_all_paths_and_every_edge_of_it_is_real(
    edges: list[Edge], seeds: set[str], random: Random
) -> None:
    chain = best_chain(seeds, edges, things=APART)
    paths = list(_all_paths(sorted(seeds), edges))
    assert (chain is None) == (not paths)
    if chain is None:
        return
    assert (len(chain.edges), -_product(chain.edges), chain.nodes) == min(paths)
    for start, end, one in zip(chain.nodes, chain.nodes[1:], chain.edges, strict=False):
        assert one in edges
        assert {one.src, one.dst} == {start, end}
    shuffled = list(edges)
    random.shuffle(shuffled)
    assert best_chain(sorted(seeds, reverse=True), shuffled, things=APART) == chain


Path = tuple[int, int, tuple[str, ...]]


def _all_paths(seeds: list[str], edges: list[Edge]) -> Iterator[Path]:
    def walk(nodes: tuple[str, ...], steps: tuple[Edge, ...]) -> Iterator[Path]:
        if len(nodes) > 1 and nodes[-1] in seeds and nodes[-1] > nodes[0]:
            yield (len(steps), -_product(steps), nodes)
        for one in edges:
            for here, there in ((one.src, one.dst), (one.dst, one.src)):
                if here == nodes[-1] and there not in nodes:
                    yield from walk((*nodes, there), (*steps, one))

    for seed in seeds:
        yield from walk((seed,), ())


def _product(edges: tuple[Edge, ...]) -> int:
    """In tenths, so that equal products are equal; of paths of one length only."""
    product = 1
    for one in edges:
        product *= round(one.confidence * 10)
    return product
