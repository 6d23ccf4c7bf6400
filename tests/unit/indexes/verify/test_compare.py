"""Staged stores against the plan: a sound one passes, each kind of damage is named."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from indexes.frozen_plan import Plan, StagedState, check_counts, check_rows, dump_payload
from indexes.ports import ChunkStore, StoreState
from indexes.stores.lance.store import LanceChunkStore
from schemas.changes import Counts, RowChanges
from schemas.edges import Edge
from schemas.errors import DamageFound
from schemas.nodes import Chunk, Node
from tests.fakes.graph_samples import DIM, make_chunk, make_graph, make_vectors
from tests.fakes.memory_stores import MemoryChunkStore, MemoryGraphStore, MemoryRawStore

GRAPH = make_graph()
CHUNK = make_chunk("Leave is asked for two weeks ahead.")
PLAN = RowChanges(nodes=tuple(GRAPH.nodes), edges=tuple(GRAPH.edges), chunks=(CHUNK,))


def plan_of(*parts: RowChanges) -> Plan:
    """A frozen plan of these payloads."""
    store = MemoryRawStore()
    return Plan(store=store, payloads=tuple(dump_payload(store, part) for part in parts))


def check(
    plan: Plan,
    *,
    nodes: Sequence[Node] = PLAN.nodes,
    edges: Sequence[Edge] = PLAN.edges,
    chunks: Sequence[Chunk] = PLAN.chunks,
    store: ChunkStore | None = None,
) -> None:
    """Compare the plan with stores that hold these rows."""
    held, graph = store or MemoryChunkStore(dim=DIM), MemoryGraphStore()
    writer = held.writer()
    writer.stage(1, base=0)
    writer.apply([(chunk, make_vectors()) for chunk in chunks], ())
    writer.finish(1)
    joiner = graph.writer()
    joiner.stage(1, base=0)
    joiner.apply_nodes(nodes, ())
    joiner.apply_edges(edges, ())
    joiner.finish(1)
    check_rows(plan, chunks=held.at(1), graph=graph.at(1))


def test_stores_that_hold_the_plan_pass() -> None:
    check(plan_of(PLAN))
    check(plan_of(PLAN, RowChanges(chunk_deletes=("chunk:gone",), node_deletes=("page:gone",))))
    check(plan_of())


def test_a_node_that_is_deleted_to_be_written_anew_is_there() -> None:
    check(plan_of(RowChanges(nodes=(GRAPH.page,), node_deletes=(GRAPH.page.id,)), PLAN))


def test_a_node_that_differs_is_named() -> None:
    other = replace(GRAPH.page, title="another title")
    with pytest.raises(DamageFound, match=f"{GRAPH.page.id}: stored node differs"):
        check(plan_of(PLAN), nodes=[other if node.id == other.id else node for node in GRAPH.nodes])


def test_a_chunk_that_differs_is_named() -> None:
    with pytest.raises(DamageFound, match=f"{CHUNK.id}: stored chunk differs"):
        check(plan_of(PLAN), chunks=[replace(CHUNK, token_count=99)])


def test_an_edge_that_differs_is_named() -> None:
    first = GRAPH.edges[0]
    with pytest.raises(DamageFound, match=f"{first.id}: stored edge differs"):
        check(plan_of(PLAN), edges=[replace(first, count=99), *GRAPH.edges[1:]])


def test_a_row_that_is_not_there_is_named() -> None:
    with pytest.raises(DamageFound, match=f"{CHUNK.id}: planned row is not in the store"):
        check(plan_of(PLAN), chunks=[])
    with pytest.raises(DamageFound, match=f"{GRAPH.edges[0].id}: planned row is not in the store"):
        check(plan_of(PLAN), edges=GRAPH.edges[1:])


def test_a_row_that_survived_its_deletion_is_named() -> None:
    with pytest.raises(DamageFound, match=f"{CHUNK.id}: deleted chunk is still there"):
        check(plan_of(RowChanges(chunk_deletes=(CHUNK.id,))))
    with pytest.raises(DamageFound, match=f"{GRAPH.page.id}: deleted node is still there"):
        check(plan_of(RowChanges(node_deletes=(GRAPH.page.id,))))


@pytest.mark.parametrize(
    "text",
    [
        "Übergrößenträger",
        "größte Flüsse",
        "x86_64 v2 3.14",
        "12 + 34",
        "日本語の文書です",
        "Ёлка",
        "cafe\u0301s",
    ],
)
@pytest.mark.parametrize("store", ["memory", "lance"])
def test_a_text_of_any_script_is_found_by_its_own_words(text: str, store: str, tmp_path: Path) -> None:
    chunk = make_chunk(text)
    kept = MemoryChunkStore(dim=DIM) if store == "memory" else LanceChunkStore.create(tmp_path, dim=DIM)
    check(plan_of(RowChanges(chunks=(chunk,))), chunks=[chunk], store=kept)


@pytest.mark.parametrize(
    ("expected", "wrong"),
    [
        ({"chunks": {"html": 2}, "nodes": {"Page": 1}, "edges": {}}, None),
        (
            {"chunks": {"html": 3}, "nodes": {"Page": 1}},
            "chunks: holds {'html': 2}, the plan says {'html': 3}",
        ),
        ({"chunks": {"html": 2}}, "nodes: holds {'Page': 1}, the plan says {}"),
    ],
)
def test_counts_are_compared_table_by_table(expected: Counts, wrong: str | None) -> None:
    staged = StagedState(
        chunks=StoreState(counts={"html": 2, "pdf": 0}),
        nodes=StoreState(counts={"Page": 1}),
        edges=StoreState(),
    )
    if wrong is None:
        check_counts(staged, expected)
        return
    with pytest.raises(DamageFound) as caught:
        check_counts(staged, expected)
    assert str(caught.value) == wrong
