"""Fetching, parsing and embedding done by processes that were started by hand give what one process gives."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from flows import tasks
from flows.run.stage import Stage, Stages
from flows.run.values import Batch, ComparedSource, Embedded, FetchedBatch, ParsedBatch, Planned, Run
from flows.walk import walk
from indexes.layout import IndexLayout
from schemas.records import from_record, to_record
from tests.fakes.handbook import TOPICS, serve_handbook, write_source
from tests.fakes.prefect_server import REPO
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server]


class ElsewhereEngine:
    """Runs fetch, parse and embed in processes of their own, the rest here."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment, self.ran = environment, list[str]()

    def begin(self, run: Run) -> Run:
        """Give the run as it is."""
        return run

    def call(self, stage: Stage[..., Any], *values: Any) -> Any:
        """Run a stage here."""
        return stage(*values)

    def parse_leftovers(self, run: Run, planned: Planned) -> ParsedBatch:
        """Parse here."""
        return tasks.parse_leftovers(run, planned)

    def crawl_wave(self, run: Run, wave: Any) -> list[FetchedBatch | ParsedBatch]:
        """Fetch and parse each batch elsewhere."""
        done: list[FetchedBatch | ParsedBatch] = []
        for batch in wave.batches:
            fetched = from_record(FetchedBatch, self._elsewhere("fetch", run, batch))
            done += [fetched, from_record(ParsedBatch, self._elsewhere("parse", run, batch, fetched))]
        return done

    def embed(self, run: Run, compared: ComparedSource) -> Callable[[], list[Embedded]]:
        """Embed elsewhere."""
        embedded = from_record(Embedded, self._elsewhere("embed", run, compared))
        return lambda: [embedded]

    def _elsewhere(
        self, stage: str, run: Run, *values: Batch | FetchedBatch | ComparedSource
    ) -> dict[str, Any]:
        self.ran.append(stage)
        given = json.dumps({"run": to_record(run), "values": [to_record(value) for value in values]})
        done = subprocess.run(
            [sys.executable, "-m", "tests.fakes.stage_process", stage],
            cwd=REPO,
            env=self.environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return answer


@pytest.mark.long
def test_stages_in_other_processes_give_the_same_fragments_vectors_and_rows(
    sitegraph: Sitegraph, tmp_path: Path
) -> None:
    with serve_handbook(TOPICS[:1]) as handbook:
        source = write_source(tmp_path, handbook)
        here = sitegraph.run(source, tmp_path / "here")
        with sitegraph.opened(source, tmp_path / "there") as resources:
            engine = ElsewhereEngine({**sitegraph.environment, "SITEGRAPH_INDEX": str(tmp_path / "unused")})
            there = walk(resources, engine, due=False, stages=Stages(resources.index.clock))

    assert {"fetch", "parse", "embed"} <= set(engine.ran)
    assert there.generation == here["generation"] == 1
    assert there.chunks.added == here["chunks"]["added"]
    assert sitegraph.export(tmp_path / "there") == sitegraph.export(tmp_path / "here")
    assert hashes(tmp_path / "there", "fragments") == hashes(tmp_path / "here", "fragments")
    assert vectors(tmp_path / "there") == vectors(tmp_path / "here")


def hashes(index: Path, store: str) -> set[str]:
    """Names of what a store keeps, which are the hashes of it."""
    folder = getattr(IndexLayout(index), store)
    return {path.name for path in folder.rglob("*") if path.is_file()}


def vectors(index: Path) -> dict[bytes, bytes]:
    """Every vector that was made, by the key of its text."""
    with closing(sqlite3.connect(IndexLayout(index).vectors)) as database:
        return dict(database.execute("SELECT key, vector FROM vector"))
