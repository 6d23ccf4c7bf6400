"""Records to Neo4j properties and back."""

from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.digests import edge_sha256, node_sha256
from indexes.stores.neo4j_.schema import (
    edge_from_properties,
    edge_properties,
    from_properties,
    node_from_properties,
    node_properties,
    to_properties,
)
from schemas.edges import Edge, EdgeKind, EvidenceRole, LinkPosition
from schemas.nodes import NODE_TYPES, BBox, Node
from tests.fakes.graph_samples import make_graph

NAMES = st.text("abcdefghij", min_size=1, max_size=8)
SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text()
NUMBERS = st.lists(st.integers(0, 9) | st.floats(0, 9), max_size=4)
VALUES = SCALARS | st.lists(st.text(), max_size=3) | NUMBERS | st.lists(NUMBERS, max_size=2)
EVERY_NODE = make_graph().nodes


@given(st.dictionaries(NAMES, VALUES))
def test_a_record_comes_back_equal_but_for_what_is_none(record: dict[str, Any]) -> None:
    known = {name: value for name, value in record.items() if value is not None}
    assert from_properties(to_properties(record)) == known


@given(st.dictionaries(NAMES, VALUES))
def test_properties_hold_only_what_neo4j_can_hold(record: dict[str, Any]) -> None:
    for value in to_properties(record).values():
        texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
        assert texts or isinstance(value, str | int | float | bool)


@pytest.mark.parametrize("node", EVERY_NODE, ids=lambda node: type(node).__name__)
def test_a_node_comes_back_equal_and_carries_its_hash(node: Node) -> None:
    properties = node_properties(node)
    stored = {**properties, "ix": "i", "valid_from": 3, "valid_to": 9}
    assert node_from_properties(stored) == node
    assert properties["row_sha256"] == node_sha256(node)


def test_the_samples_hold_a_node_of_every_kind() -> None:
    assert {type(node) for node in EVERY_NODE} == set(NODE_TYPES.values())


@pytest.mark.parametrize("edge", make_graph().edges, ids=lambda edge: edge.kind)
def test_an_edge_comes_back_equal_and_carries_its_hash(edge: Edge) -> None:
    properties = edge_properties(edge)
    stored = {**properties, "ix": "i", "valid_from": 3, "valid_to": 9}
    assert edge_from_properties(stored) == edge
    assert properties["row_sha256"] == edge_sha256(edge)


def test_an_edge_with_every_field_set_comes_back_equal() -> None:
    edge = Edge(
        id="e", kind=EdgeKind.LINKS_TO, src="a", dst="b", doc="d", source="s", confidence=0.5, count=2,
        anchor_text="x", position=LinkPosition.NAV, fragment="f", score=1.0, chunk="c", offset=7, text="t",
        predicate="p", role=EvidenceRole.DEFINES, reason="r",
    )  # fmt: skip
    defaults = Edge(id="", kind=EdgeKind.CONTAINS, src="", dst="", doc="", source="")
    assert all(getattr(edge, f.name) != getattr(defaults, f.name) for f in fields(Edge))
    assert edge_from_properties(edge_properties(edge)) == edge


def test_a_box_of_whole_and_broken_numbers_becomes_one_string() -> None:
    region = replace(make_graph().region, bbox=BBox(0, 0.5, 3, 4.25))
    assert node_properties(region)["bbox_json"] == "[0, 0.5, 3, 4.25]"
