"""Questions asked of a generation that is staged in Neo4j: held, taken back without a trace, and accepted."""

from pathlib import Path

import pytest

from indexes.publish.current import read_current
from schemas.errors import PublishHeld
from tests.fakes.handbook import path_of, serve_handbook, write_source
from tests.fakes.neo4j_runs import index, on_neo4j
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.server, pytest.mark.neo4j, pytest.mark.long]
__all__ = ["index", "on_neo4j"]


def test_what_lost_its_evidence_is_held_and_leaves_no_trace(
    on_neo4j: Sitegraph, index: Path, tmp_path: Path
) -> None:
    with serve_handbook() as handbook:
        source = write_source(tmp_path, handbook, more="checks: questions.yaml\n")
        (tmp_path / "questions.yaml").write_text(
            "questions:\n- question: What happens when leases are lost?\n"
            f"  cites: {handbook.site.url(path_of('Leases'))}#losing-leases\n"
            "  states: The night porter rings the bell twice.\n"
        )
        first = on_neo4j.run(source, index, graph="neo4j")
        assert first["checks"] == {"asked": 1, "passed": 1, "lost": 0, "held": False}
        before = on_neo4j.export(index)
        handbook.edit(path_of("Leases"), "Losing Leases", "When leases are lost, nobody rings a bell.")

        with pytest.raises(PublishHeld):
            on_neo4j.run(source, index)

        assert read_current(index) == 1
        assert on_neo4j.export(index) == before
        assert on_neo4j.damage(index) == ()
        accepted = on_neo4j.run(source, index, accept=True)
        assert accepted["checks"] == {"asked": 1, "passed": 0, "lost": 1, "held": False}
        assert on_neo4j.damage(index) == ()
