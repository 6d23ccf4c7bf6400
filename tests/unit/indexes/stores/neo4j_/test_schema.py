"""Labels, constraints and indexes."""

from indexes.stores.neo4j_.schema import EDGE_ROWS, schema_statements
from schemas.edges import EdgeKind


def test_every_edge_kind_has_a_type_of_its_own_that_reads_back() -> None:
    assert {rows.name.lower(): kind.value for kind, rows in EDGE_ROWS.items()} == {
        kind.value: kind.value for kind in EdgeKind
    }


def test_every_key_that_rows_are_found_by_is_unique() -> None:
    unique = [text for text in schema_statements().values() if "IS UNIQUE" in text]
    assert len(unique) == len(EdgeKind) + 3
    assert all("IF NOT EXISTS" in text for text in schema_statements().values())


def test_nothing_needs_the_enterprise_edition() -> None:
    text = " ".join(schema_statements().values())
    assert "NODE KEY" not in text
    assert "NOT NULL" not in text
