"""The digest of a generation, made of its base's and the rows that changed: what reading all rows gives."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

import pytest

from indexes.digests import follows_change
from indexes.ports import ChunkStore, ChunkVectors, GraphStore, StoreState
from schemas.edges import Edge, EdgeKind
from schemas.errors import DamageFound
from schemas.nodes import Chunk, DocumentKind, Page
from tests.fakes.chunk_generations import row
from tests.fakes.graph_samples import DIM, axis, make_edge, make_page, make_vectors
from tests.fakes.memory_stores import MemoryChunkStore, MemoryGraphStore

FEW, MANY = 6, 200
"""Generations; many of them only where `make` asks for the long tests."""
KEPT = 3
POOL = 160
"""Rows that may be there; most of them are."""
UPSERTS, DELETES = 8, 3
"""A generation changes fewer, so that no table is read whole."""

T = TypeVar("T")
ChunkRow = tuple[Chunk, ChunkVectors]
States = tuple[StoreState, StoreState]
Rows = dict[str, T]


def finish_chunks(
    store: ChunkStore,
    generation: int,
    rows: Rows[ChunkRow],
    gone: list[str],
    *,
    before: StoreState | None = None,
    base: int | None = None,
) -> StoreState:
    writer = store.writer()
    writer.stage(generation, base=generation - 1 if base is None else base)
    writer.apply(iter(rows.values()), gone)
    return writer.finish(generation, before=before)


def finish_graph(
    store: GraphStore,
    generation: int,
    nodes: tuple[Rows[Page], list[str]],
    edges: tuple[Rows[Edge], list[str]],
    *,
    before: States | None = None,
    base: int | None = None,
) -> States:
    writer = store.writer()
    writer.stage(generation, base=generation - 1 if base is None else base)
    writer.apply_nodes(iter(nodes[0].values()), nodes[1])
    writer.apply_edges(iter(edges[0].values()), edges[1])
    return writer.finish(generation, before=before)


def some_chunk(number: int, rng: random.Random) -> ChunkRow:
    kind = (DocumentKind.HTML, DocumentKind.MARKDOWN, DocumentKind.PDF)[number % 3]
    return row(f"text {number}", make_vectors(axis(rng.randrange(DIM))), kind=kind)


def some_page(number: int, rng: random.Random) -> Page:
    return make_page(f"https://site.test/loose/{number}", title=f"Title {rng.randrange(3)}")


CORE = [make_page(f"https://site.test/core/{number}") for number in range(POOL // 2)]


def some_edge(number: int, rng: random.Random) -> Edge:
    kind = (EdgeKind.LINKS_TO, EdgeKind.CONTAINS)[number % 2]
    ends = CORE[number % len(CORE)], CORE[number * 7 % len(CORE)]
    return replace(make_edge(kind, *ends), count=rng.randrange(1, 4))


def steps(
    make: Callable[[int, random.Random], T], key: Callable[[T], str]
) -> Iterator[tuple[Rows[T], list[str]]]:
    """A first load, then random changes: rows to upsert, some of them there already, and ids to go."""
    rng = random.Random(7)
    held = {key(item): item for item in (make(number, rng) for number in range(POOL))}
    yield dict(held), []
    while True:
        upserts = {
            key(item): item
            for item in (make(rng.randrange(POOL), rng) for _ in range(rng.randrange(UPSERTS)))
        }
        gone = rng.sample(sorted(held), rng.randrange(DELETES))
        held = {id_: item for id_, item in held.items() if id_ not in gone} | upserts
        assert follows_change(StoreState(counts={"all": len(held)}), dict.fromkeys([*upserts, *gone, ""]))
        yield upserts, [*gone, "unknown"]


def applied(held: Rows[T], step: tuple[Rows[T], list[str]]) -> Rows[T]:
    return {id_: item for id_, item in held.items() if id_ not in step[1]} | step[0]


@pytest.mark.parametrize("generations", [FEW, pytest.param(MANY, marks=pytest.mark.long)])
def test_chunks_of_each_generation_have_the_digest_of_rebuilt_ones(
    chunk_store: ChunkStore, generations: int
) -> None:
    held: Rows[ChunkRow] = {}
    state = None
    changes = steps(some_chunk, lambda pair: pair[0].id)
    for generation in range(1, generations + 1):
        step = next(changes)
        state = finish_chunks(chunk_store, generation, *step, before=state)
        held = applied(held, step)
        rebuilt = finish_chunks(MemoryChunkStore(dim=DIM), 1, held, [], base=0)
        assert (state.digest, state.counts) == (rebuilt.digest, rebuilt.counts), generation
        chunk_store.writer().prune(keep=range(max(1, generation - KEPT), generation + 1))
    assert chunk_store.at(generations).state() == state


@pytest.mark.dear("a graph of each generation, written twice, in Neo4j too")
@pytest.mark.parametrize("generations", [FEW, pytest.param(MANY, marks=pytest.mark.long)])
def test_the_graph_of_each_generation_has_the_digests_of_a_rebuilt_one(
    graph_store: GraphStore, generations: int
) -> None:
    core = {page.id: page for page in CORE}
    nodes: Rows[Page] = core
    edges: Rows[Edge] = {}
    states = finish_graph(graph_store, 1, (core, []), ({}, []))
    of_nodes, of_edges = steps(some_page, lambda page: page.id), steps(some_edge, lambda edge: edge.id)
    for generation in range(2, generations + 2):
        step = next(of_nodes), next(of_edges)
        states = finish_graph(graph_store, generation, *step, before=states)
        nodes, edges = applied(nodes, step[0]), applied(edges, step[1])
        rebuilt = finish_graph(MemoryGraphStore(), 1, (nodes, []), (edges, []), base=0)
        assert [(s.digest, s.counts) for s in states] == [(s.digest, s.counts) for s in rebuilt], generation
        graph_store.writer().prune(keep=range(max(1, generation - KEPT), generation + 1))
    read = graph_store.at(generations + 1).state()
    assert [state.digest for state in read] == [state.digest for state in states]


def test_the_digest_follows_a_rollback_and_a_replay(graph_store: GraphStore, chunk_store: ChunkStore) -> None:
    """Generation 3 is built on 1 after 2 was rolled back, and then staged once more."""
    of_chunks, of_edges = steps(some_chunk, lambda pair: pair[0].id), steps(some_edge, lambda edge: edge.id)
    first, second, third = (next(of_chunks) for _ in range(3))
    states = [finish_chunks(chunk_store, 1, *first)]
    finish_chunks(chunk_store, 2, *second, before=states[0])
    states += [finish_chunks(chunk_store, 3, *third, before=states[0], base=1) for _ in range(2)]
    assert states[1].digest == states[2].digest == chunk_store.at(3).state().digest
    assert chunk_store.at(1).state().digest == states[0].digest

    core = {page.id: page for page in CORE}
    first_edges, second_edges, third_edges = (next(of_edges) for _ in range(3))
    graphs = [finish_graph(graph_store, 1, (core, []), first_edges)]
    finish_graph(graph_store, 2, ({}, []), second_edges, before=graphs[0])
    graphs += [
        finish_graph(graph_store, 3, ({}, []), third_edges, before=graphs[0], base=1) for _ in range(2)
    ]
    read = graph_store.at(3).state()
    assert [s.digest for s in graphs[1]] == [s.digest for s in graphs[2]] == [s.digest for s in read]


def test_an_unchanged_generation_has_the_digest_of_its_base(chunk_store: ChunkStore) -> None:
    first = finish_chunks(chunk_store, 1, *next(steps(some_chunk, lambda pair: pair[0].id)))
    assert finish_chunks(chunk_store, 2, {}, [], before=first).digest == first.digest


def test_chunks_that_went_behind_the_ledger_are_noticed(chunk_store: ChunkStore) -> None:
    changes = steps(some_chunk, lambda pair: pair[0].id)
    held, _ = next(changes)
    whole = finish_chunks(MemoryChunkStore(dim=DIM), 1, held, [], base=0)
    finish_chunks(chunk_store, 1, dict(list(held.items())[:-1]), [])
    with pytest.raises(DamageFound, match="without the ledger"):
        finish_chunks(chunk_store, 2, {}, [], before=whole)


def test_edges_that_came_behind_the_ledger_are_noticed(graph_store: GraphStore) -> None:
    core = {page.id: page for page in CORE}
    edges, _ = next(steps(some_edge, lambda edge: edge.id))
    fewer = finish_graph(MemoryGraphStore(), 1, (core, []), (dict(list(edges.items())[1:]), []), base=0)
    finish_graph(graph_store, 1, (core, []), (edges, []))
    with pytest.raises(DamageFound, match=r"edges.*without the ledger"):
        finish_graph(graph_store, 2, ({}, []), ({}, []), before=fewer)


def test_nodes_that_went_behind_the_ledger_are_noticed(graph_store: GraphStore) -> None:
    core = {page.id: page for page in CORE}
    whole = finish_graph(MemoryGraphStore(), 1, (core, []), ({}, []), base=0)
    finish_graph(graph_store, 1, (dict(list(core.items())[1:]), []), ({}, []))
    with pytest.raises(DamageFound, match=r"nodes.*without the ledger"):
        finish_graph(graph_store, 2, ({}, []), ({}, []), before=whole)
