"""Runs whose fetching, parsing and embedding are done by worker processes of Ray."""

from pathlib import Path

import pytest

from tests.fakes.handbook import TOPICS, serve_handbook, write_source
from tests.fakes.marked_processes import Marked
from tests.fakes.prefect_server import poll
from tests.fakes.sitegraph_runs import Sitegraph
from tests.flows.test_other_processes import hashes

pytestmark = [pytest.mark.server, pytest.mark.long]

RAY = {"SITEGRAPH_TASK_RUNNER": "ray", "SITEGRAPH_TASK_RUNNER_WORKERS": "2"}


def test_workers_of_ray_publish_what_threads_do_and_end_with_the_run(
    sitegraph: Sitegraph, on_prefect: Sitegraph, tmp_path: Path
) -> None:
    pytest.importorskip("ray", reason="ray has no wheel for this Python")
    marked, index = Marked(), tmp_path / "there"
    with serve_handbook(TOPICS[:4]) as handbook:
        source = write_source(tmp_path, handbook)
        sitegraph.run(source, tmp_path / "here")
        try:
            arguments = ("run", str(source), "--index", str(index))
            done = on_prefect.command(*arguments, **RAY, **marked.environment)
            assert done.returncode == 0, done.stderr
            poll(lambda: not marked.alive() or None, timeout=120, what="the end of all processes")
        finally:
            marked.kill()

    assert sitegraph.export(index) == sitegraph.export(tmp_path / "here")
    assert hashes(index, "fragments") == hashes(tmp_path / "here", "fragments")
