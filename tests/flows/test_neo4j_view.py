"""What people find in Neo4j is the generation that readers see: after a recrawl, a rollback, a drop."""

from pathlib import Path

import pytest

from tests.fakes.crashes import change
from tests.fakes.handbook import serve_handbook, write_source
from tests.fakes.neo4j_runs import exported, index, on_neo4j, seen, texts, texts_seen
from tests.fakes.neo4j_server import Neo4jServer
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server, pytest.mark.neo4j]
__all__ = ["index", "on_neo4j"]


def test_people_count_what_the_export_holds_after_pages_went_and_came(
    on_neo4j: Sitegraph, neo4j_server: Neo4jServer, index: Path, tmp_path: Path
) -> None:
    with serve_handbook() as handbook:
        source = write_source(tmp_path, handbook)
        on_neo4j.run(source, index, graph="neo4j")
        first = exported(on_neo4j, index)
        assert seen(neo4j_server, index, first) == first
        before = texts(on_neo4j, index)
        assert texts_seen(neo4j_server, index) == before

        change(handbook)
        on_neo4j.run(source, index)

        second = exported(on_neo4j, index)
        assert second != first
        assert seen(neo4j_server, index, second) == second
        changed = texts(on_neo4j, index)
        assert texts_seen(neo4j_server, index) == changed

        on_neo4j.command("rollback", "--index", str(index))
        assert seen(neo4j_server, index, first) == first
        assert texts_seen(neo4j_server, index) == before
        assert before != changed
        assert on_neo4j.damage(index) == ()

        on_neo4j.command("rollback", "--lift", "--index", str(index))
        on_neo4j.drop("handbook", index)
        assert exported(on_neo4j, index) == ({}, {})
        assert seen(neo4j_server, index, first) == tuple(dict.fromkeys(kinds, 0) for kinds in first)
