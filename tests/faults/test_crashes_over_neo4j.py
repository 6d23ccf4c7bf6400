"""SIGKILL of runs that keep their graph in Neo4j; `make faults` runs these."""

from pathlib import Path

import pytest

from tests.fakes.crashes import change
from tests.fakes.handbook import serve_handbook, write_source
from tests.fakes.neo4j_runs import exported, index, on_neo4j, seen
from tests.fakes.neo4j_server import Neo4jServer
from tests.fakes.prefect_server import prefect_server
from tests.fakes.sitegraph_runs import Sitegraph, sitegraph

pytestmark = [
    pytest.mark.server,
    pytest.mark.neo4j,
    pytest.mark.long,
    # Six commands of the program each, and the first also starts both servers: 150 s on a busy machine.
    pytest.mark.timeout(900),
]
__all__ = ["index", "on_neo4j", "prefect_server", "sitegraph"]


@pytest.mark.parametrize(
    "point",
    [
        "graph.before_batch",
        "graph.nodes_done",
        "graph.retired",
        "vector.not_tagged",
        "current.not_recorded",
        "current.not_shown",
        "prune.midway",
    ],
)
def test_a_killed_run_is_finished_over_neo4j_too(
    sitegraph: Sitegraph,
    on_neo4j: Sitegraph,
    neo4j_server: Neo4jServer,
    index: Path,
    tmp_path: Path,
    point: str,
) -> None:
    with serve_handbook() as handbook:
        source = write_source(tmp_path, handbook)
        on_neo4j.run(source, index, graph="neo4j")
        change(handbook)
        died = on_neo4j.command("run", str(source), "--index", str(index), SITEGRAPH_FAULT=f"{point}:kill")

        on_neo4j.run(source, index)

        assert died.returncode == -9
        assert seen(neo4j_server, index, exported(on_neo4j, index)) == exported(on_neo4j, index)
        clean = tmp_path / "clean"
        sitegraph.run(source, clean)
        assert on_neo4j.export(index) == sitegraph.export(clean)
        assert on_neo4j.damage(index) == ()


def test_rolling_back_and_on_again_over_neo4j(on_neo4j: Sitegraph, index: Path, tmp_path: Path) -> None:
    with serve_handbook() as handbook:
        source = write_source(tmp_path, handbook)
        on_neo4j.run(source, index, graph="neo4j")
        first = on_neo4j.export(index)
        change(handbook)
        on_neo4j.run(source, index)
        second = on_neo4j.export(index)

        on_neo4j.command("rollback", "--index", str(index))
        assert on_neo4j.export(index) == first
        on_neo4j.run(source, index, accept=True)

        assert on_neo4j.export(index) == second
        assert on_neo4j.damage(index) == ()
