"""Generations that are kept for weeks, by processes whose clock is days ahead."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import lancedb
import pytest

from indexes.stores.lance import table_upkeep
from indexes.stores.lance.store import LanceChunkStore
from indexes.stores.lance.tables import CHUNKS
from tests.fakes.graph_samples import DIM
from tests.fakes.later_clock import later
from tests.fakes.prefect_server import REPO

Later = Callable[..., "subprocess.CompletedProcess[str]"]
STOPPING = "import lancedb, sys; lancedb.connect(sys.argv[1]).open_table(sys.argv[2]).optimize()"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    LanceChunkStore.create(tmp_path / "index", dim=DIM)
    return tmp_path / "index"


@pytest.fixture
def python(tmp_path: Path) -> Later:
    """Run Python on a day."""

    def run(day: float, *arguments: str) -> subprocess.CompletedProcess[str]:
        clock = later(day, folder=tmp_path / "clock")
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=REPO, env=clock, capture_output=True, text=True, check=False)

    return run


def publish(python: Later, day: float, directory: Path, generation: int) -> None:
    done = python(day, "-m", "tests.fakes.publish_once", str(directory), str(generation))
    assert done.returncode == 0, f"day {day}: {done.stderr}"


def rows(directory: Path, generation: int) -> int:
    return sum(LanceChunkStore(directory, dim=DIM).at(generation).state().counts.values())


def test_a_writer_puts_indexes_in_order_however_old_the_kept_generations_are(
    python: Later, directory: Path
) -> None:
    for generation, day in ((1, 0), (2, 8), (3, 40)):
        publish(python, day, directory, generation)

    assert [rows(directory, generation) for generation in (1, 2, 3)] == [40, 80, 120]
    table = lancedb.connect(directory).open_table(CHUNKS)
    assert max(index.num_unindexed_rows for index in table.list_indices()) == 0


def test_what_only_old_generations_needed_goes_after_weeks(python: Later, directory: Path) -> None:
    for generation in range(1, 7):
        publish(python, 9 * generation, directory, generation)
    before = len(lancedb.connect(directory).open_table(CHUNKS).list_versions())
    code = (
        "import sys; from indexes.stores.lance import table_upkeep; table_upkeep.MAX_STALE_VERSIONS = 3\n"
        "from tests.fakes.publish_once import main; main(sys.argv[1], 7)"
    )
    done = python(63, "-c", code, str(directory))

    assert done.returncode == 0, done.stderr
    after = lancedb.connect(directory).open_table(CHUNKS)
    assert len(after.list_versions()) < before < table_upkeep.MAX_STALE_VERSIONS * 2
    assert set(after.tags.list()) == {"gen-5", "gen-6", "gen-7"}
    assert [rows(directory, generation) for generation in (5, 6, 7)] == [200, 240, 280]


def test_a_table_that_a_cleanup_by_default_had_stopped_goes_on(python: Later, directory: Path) -> None:
    """As earlier versions left it: small files merged, and then an error instead of a tag."""
    publish(python, 0, directory, 1)
    stopped = python(8, "-c", STOPPING, str(directory), CHUNKS)
    assert "Cleanup error" in stopped.stderr

    publish(python, 9, directory, 2)

    assert [rows(directory, generation) for generation in (1, 2)] == [40, 80]
