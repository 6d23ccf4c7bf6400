"""Payloads of a frozen plan: content-addressed, in order, read back as they were."""

import pytest

from indexes.frozen_plan import Plan, dump_payload, load_payload, plan_sha256
from schemas.changes import RowChanges
from schemas.errors import DamageFound
from schemas.ids import canonical_json
from schemas.records import to_record
from tests.fakes.graph_samples import full_chunk, make_chunk, make_graph
from tests.fakes.memory_stores import MemoryRawStore

GRAPH = make_graph()
PAYLOAD = RowChanges(
    nodes=tuple(GRAPH.nodes),
    node_deletes=("page:old",),
    edges=tuple(GRAPH.edges),
    edge_deletes=("edge:old",),
    chunks=(full_chunk(),),
    chunk_deletes=("chunk:old",),
    chunks_added=1,
)


def test_a_payload_is_read_back_as_it_was() -> None:
    store = MemoryRawStore()
    assert load_payload(store, dump_payload(store, PAYLOAD)) == PAYLOAD


def test_the_same_payload_has_the_same_name() -> None:
    assert dump_payload(MemoryRawStore(), PAYLOAD) == dump_payload(MemoryRawStore(), PAYLOAD)
    assert dump_payload(MemoryRawStore(), PAYLOAD) != dump_payload(MemoryRawStore(), RowChanges())


def test_a_plan_gives_its_payloads_in_order_as_often_as_asked() -> None:
    store = MemoryRawStore()
    parts = [RowChanges(chunks=(make_chunk(text),)) for text in "cab"]
    plan = Plan(store=store, payloads=tuple(dump_payload(store, part) for part in parts))
    assert list(plan) == parts
    assert list(plan) == parts


def test_of_a_plan_some_fields_may_be_read_alone() -> None:
    store = MemoryRawStore()
    plan = Plan(store=store, payloads=(dump_payload(store, PAYLOAD),))
    assert list(plan.parts("nodes", "edge_deletes")) == [
        RowChanges(nodes=PAYLOAD.nodes, edge_deletes=PAYLOAD.edge_deletes)
    ]


def test_a_payload_that_an_earlier_version_kept_in_one_line_is_read() -> None:
    store = MemoryRawStore()
    held = store.put(canonical_json(to_record(PAYLOAD)).encode())
    assert load_payload(store, held) == PAYLOAD
    assert load_payload(store, held, "nodes") == RowChanges(nodes=PAYLOAD.nodes)
    assert Plan(store=store, payloads=(held,)).chunk_ids() == {PAYLOAD.chunks[0].id}


def test_a_lost_payload_is_an_error_of_its_own_name() -> None:
    with pytest.raises(DamageFound, match="f00d"):
        load_payload(MemoryRawStore(), "f00d")


def test_a_plan_is_named_by_base_source_and_payloads_in_order() -> None:
    plans = [
        plan_sha256(["a", "b"], base=1, source="x"),
        plan_sha256(["b", "a"], base=1, source="x"),
        plan_sha256(["a", "b"], base=2, source="x"),
        plan_sha256(["a", "b"], base=1, source="y"),
        plan_sha256(["a"], base=1, source="x"),
    ]
    assert len(set(plans)) == len(plans)
    assert plan_sha256(("a", "b"), base=1, source="x") == plans[0]
