"""Labels, constraints and indexes."""

import re
from dataclasses import fields
from pathlib import Path

from indexes.stores.neo4j_.chunk_nodes import FIELDS
from indexes.stores.neo4j_.schema import EDGE_ROWS, LOOKED_UP, relationship_type, schema_statements
from schemas.edges import EdgeKind
from schemas.nodes import NODE_TYPES, NodeKind

PAGE = (Path(__file__).parents[5] / "docs" / "how-to" / "query-neo4j.md").read_text("utf-8")


def test_every_label_has_an_index_of_each_property_that_the_manual_calls_indexed() -> None:
    (said,) = re.findall(r"^(`id`.*) are indexed, each for every label", PAGE, re.MULTILINE)
    named = set(re.findall("`(\\w+)`", said))
    for kind, node in NODE_TYPES.items():
        held = {field.name for field in fields(node)} | ({*FIELDS} if kind is NodeKind.CHUNK else set())
        assert {*LOOKED_UP[kind]} == named & held, kind


def test_every_edge_kind_has_a_type_of_its_own_for_people_and_another_for_its_rows() -> None:
    assert len({rows.name for rows in EDGE_ROWS.values()}) == len(EdgeKind)
    assert {relationship_type(kind).lower() for kind in EdgeKind} == {kind.value for kind in EdgeKind}
    assert not {rows.name for rows in EDGE_ROWS.values()} & {relationship_type(kind) for kind in EdgeKind}


def test_every_key_that_rows_are_found_by_is_unique() -> None:
    unique = [text for text in schema_statements().values() if "IS UNIQUE" in text]
    assert len(unique) == len(EdgeKind) + 4
    assert all("IF NOT EXISTS" in text for text in schema_statements().values())


def test_nothing_needs_the_enterprise_edition() -> None:
    text = " ".join(schema_statements().values())
    assert "NODE KEY" not in text
    assert "NOT NULL" not in text
