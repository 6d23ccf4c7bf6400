"""The same runs with the graph in Neo4j: the same export, the same way back."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.bucket_index import bucket_index
from tests.fakes.crashes import change
from tests.fakes.handbook import Handbook, serve_handbook, write_source
from tests.fakes.neo4j_runs import index, on_neo4j, remove_graph
from tests.fakes.neo4j_server import Neo4jServer, settings_of
from tests.fakes.postgres_server import PostgresServer
from tests.fakes.prefect_server import PrefectServer
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.server, pytest.mark.neo4j]
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


@pytest.mark.long
@pytest.mark.postgres
def test_the_graph_is_in_neo4j_and_all_else_in_a_bucket(
    sitegraph: Sitegraph,
    prefect_server: PrefectServer,
    neo4j_server: Neo4jServer,
    postgres_server: PostgresServer,
    s3_server: str,
    tmp_path: Path,
) -> None:
    named = settings_of(neo4j_server)
    with (
        serve_handbook() as handbook,
        bucket_index(prefect_server, postgres_server, s3_server, **named) as remote,
    ):
        source, embedded = write_source(tmp_path, handbook), tmp_path / "embedded"
        on_both, index = remote.sitegraph, remote.index
        try:
            on_both.run(source, index, graph="neo4j")
            sitegraph.run(source, embedded)
            change(handbook)
            sitegraph.run(source, embedded)

            assert on_both.run(source, index)["generation"] == 2

            assert on_both.export(index) == sitegraph.export(embedded)
            assert on_both.damage(index) == ()
        finally:
            remove_graph(neo4j_server, index)
