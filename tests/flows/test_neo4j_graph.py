"""The same runs with the graph in Neo4j: the same export, the same way back."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.crashes import change
from tests.fakes.handbook import Handbook, serve_handbook, write_source
from tests.fakes.neo4j_runs import index, on_neo4j
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server, pytest.mark.neo4j]
__all__ = ["index", "on_neo4j"]


@pytest.fixture(scope="module")
def site() -> Iterator[Handbook]:
    with serve_handbook() as served:
        yield served


@pytest.mark.long
def test_the_export_does_not_say_which_store_keeps_the_graph(
    sitegraph: Sitegraph, on_neo4j: Sitegraph, index: Path, tmp_path: Path
) -> None:
    with serve_handbook() as handbook:
        source, embedded = write_source(tmp_path, handbook), tmp_path / "embedded"
        sitegraph.run(source, embedded)
        on_neo4j.run(source, index, graph="neo4j")
        first = on_neo4j.export(index)
        assert first == sitegraph.export(embedded)
        assert "similar_to" in {row["kind"] for row in first["edges"]}
        change(handbook)
        sitegraph.run(source, embedded)

        report = on_neo4j.run(source, index)
        again = on_neo4j.run(source, index)

        assert report["generation"] == 2
        assert again["generation"] is None
        assert on_neo4j.export(index) == sitegraph.export(embedded)
        assert on_neo4j.export(index, generation=1) == first
        assert on_neo4j.damage(index) == ()


def test_a_query_without_the_graph_server_is_degraded_and_answers(
    on_neo4j: Sitegraph, sitegraph: Sitegraph, site: Handbook, index: Path, tmp_path: Path
) -> None:
    on_neo4j.run(write_source(tmp_path, site), index, graph="neo4j")

    arguments = ("query", "what happens when leases are lost", "--index", str(index), "--format", "json")
    whole, without = on_neo4j.command(*arguments), sitegraph.command(*arguments)

    assert json.loads(whole.stdout)["degraded"] == []
    assert without.returncode == 0
    assert json.loads(without.stdout)["degraded"] == ["graph"]
    assert json.loads(without.stdout)["evidence"]
