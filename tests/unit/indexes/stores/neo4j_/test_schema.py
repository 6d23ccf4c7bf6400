"""Labels, constraints and indexes."""

import re
from dataclasses import fields
from pathlib import Path

from indexes.stores.neo4j_.schema import LOOKED_UP, schema_statements
from indexes.stores.neo4j_.view import FIELDS
from schemas.nodes import NODE_TYPES, NodeKind

PAGE = (Path(__file__).parents[5] / "docs" / "how-to" / "query-neo4j.md").read_text("utf-8")


def test_every_label_has_an_index_of_each_property_that_the_manual_calls_indexed() -> None:
    (said,) = re.findall(r"^(`id`.*) are indexed, each for every label", PAGE, re.MULTILINE)
    named = set(re.findall("`(\\w+)`", said))
    for kind, node in NODE_TYPES.items():
        held = {field.name for field in fields(node)} | ({*FIELDS} if kind is NodeKind.CHUNK else set())
        assert {*LOOKED_UP[kind]} == named & held, kind


def test_what_people_do_not_browse_has_few_indexes_all_under_names_of_our_own() -> None:
    statements = schema_statements()
    internal = {name for name in statements if name.startswith("sitegraph_internal_")}
    assert len(internal) == 9
    named = {name: re.findall(r"FOR (?:\(v|\(\)-\[v):(\w+)", text) for name, text in statements.items()}
    assert {kind for name in internal for kind in named[name]} == {
        "SitegraphRef",
        "SitegraphRev",
        "SITEGRAPH_EDGE",
    }
    of_people = {kind for name in statements.keys() - internal for kind in named[name]}
    assert of_people == {"SitegraphIndex", "SitegraphNode", *LOOKED_UP}


def test_every_key_that_rows_are_found_by_is_unique() -> None:
    unique = {name for name, text in schema_statements().items() if "IS UNIQUE" in text}
    assert unique == {
        "sitegraph_index",
        "sitegraph_node",
        *(f"sitegraph_internal_{rows}" for rows in ("ref", "nodes", "edges")),
    }
    assert all("IF NOT EXISTS" in text for text in schema_statements().values())


def test_nothing_needs_the_enterprise_edition() -> None:
    text = " ".join(schema_statements().values())
    assert "NODE KEY" not in text
    assert "NOT NULL" not in text
