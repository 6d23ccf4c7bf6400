"""Real runs, watched from outside: the metrics file that each leaves, spans and events of lineage."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families as parse

from tests.fakes.handbook import Handbook
from tests.fakes.receiver import attributes, receiving
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server]


def read(file: Path) -> Mapping[tuple[str, ...], float]:
    """Samples of a metrics file by name and labels but the index."""
    return {
        (s.name, *(value for name, value in sorted(s.labels.items()) if name != "index")): s.value
        for family in parse(file.read_text())
        for s in family.samples
    }


def state(told: Mapping[tuple[str, ...], float]) -> list[str]:
    """The state of the last run."""
    states = {name[2]: value for name, value in told.items() if name[0] == "sitegraph_last_run_state"}
    return [name for name, value in states.items() if value]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where runs leave their metrics."""
    return tmp_path / "textfile" / "sitegraph.prom"


def test_a_run_that_publishes_a_hold_and_a_failure_are_told(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path, file: Path
) -> None:
    """One index through what befalls it: each run's file, spans and events say what became of it."""
    run = ("run", str(source), "--index", str(index))
    handbook.edit("/leases.html", "Losing Leases", "Whoever loses a lease pays the porter a silver coin.")
    with receiving() as receiver:
        told_to = {"SITEGRAPH_METRICS_FILE": str(file), **receiver.environment()}

        published = sitegraph.call(*run, **told_to)

        assert published.returncode == 0, published.stderr
        told = read(file)
        assert told["sitegraph_generation",] == 2
        assert told["sitegraph_index_up",] == 1
        assert state(told) == ["finished"]
        assert told["sitegraph_last_run_documents", "changed", "handbook"] == 1
        assert told["sitegraph_last_run_http_responses", "handbook", "304"] > 0
        assert told["sitegraph_documents", "handbook", "not_modified"] == 9
        assert 0 <= told["sitegraph_content_age_seconds", "95", "handbook"] < 3600
        assert told["sitegraph_lance_unindexed_rows", "chunks"] <= told["sitegraph_lance_rows", "chunks"]

        root = next(span for span in receiver.spans() if span.name == "run handbook")
        assert attributes(root)["sitegraph.state"] == "finished"
        assert attributes(root)["sitegraph.generation"] == 2
        stages = {span.name for span in receiver.spans() if span.parent_span_id == root.span_id}
        assert {"start", "crawl", "diff", "embed", "link", "write", "verify", "publish"} <= stages
        start, complete = receiver.events()
        assert (start["eventType"], complete["eventType"]) == ("START", "COMPLETE")
        assert complete["inputs"][0]["name"] == "handbook"
        assert complete["outputs"][0]["name"] == str(index.resolve())
        assert complete["outputs"][0]["facets"]["version"]["datasetVersion"] == "2"

        assert sitegraph.call("rollback", "--index", str(index)).returncode == 0
        receiver.bodies.clear()
        held = sitegraph.call(*run, **told_to)

        assert held.returncode == 4
        told = read(file)
        assert told["sitegraph_publishing_held",] == 1
        assert told["sitegraph_generation",] == 1
        assert state(told) == ["refused"]
        assert [event["eventType"] for event in receiver.events()] == ["START", "FAIL"]
        message = receiver.events()[1]["run"]["facets"]["errorMessage"]["message"]
        assert "publishing has been held" in message

        assert sitegraph.call("rollback", "--lift", "--index", str(index)).returncode == 0
        before = told
        failed = sitegraph.call(*run, SITEGRAPH_FAULT="vector.before_merge:enospc", **told_to)

        assert failed.returncode == 1
        told = read(file)
        assert state(told) == ["failed"]
        assert told["sitegraph_publishing_held",] == 0
        success = ("sitegraph_last_success_timestamp_seconds", "handbook")
        assert told[success] == before[success], "only a run that came to its end counts"
        root = next(s for s in receiver.spans() if attributes(s).get("sitegraph.state") == "failed")
        assert root.status.code == 2


def test_a_killed_run_leaves_the_old_file_whole(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path, file: Path
) -> None:
    run = ("run", str(source), "--index", str(index))
    file.parent.mkdir()
    assert sitegraph.call(*run, SITEGRAPH_METRICS_FILE=str(file)).returncode == 0
    before = file.read_bytes()
    handbook.edit("/leases.html", "Losing Leases", "Whoever loses a lease pays the porter a golden coin.")

    killing = {"SITEGRAPH_METRICS_FILE": str(file), "SITEGRAPH_FAULT": "plan.frozen:kill"}
    with sitegraph.process(*run, **killing) as process:
        process.communicate(timeout=300)
        assert process.returncode == -9

    assert file.read_bytes() == before


def test_receivers_that_are_away_neither_fail_a_run_nor_hold_it_up(
    sitegraph: Sitegraph, source: Path, index: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    with receiving(hangs=True) as receiver:
        away = {"SITEGRAPH_METRICS_FILE": str(tmp_path / "file" / "x.prom"), **receiver.environment()}

        done = sitegraph.call("run", str(source), "--index", str(index), **away)

    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "warning" in line]
    assert len(lines) == 2, done.stderr
    assert "could not report metrics or traces" in lines[0]
    assert "not all delivered within 3 s" in lines[1]
