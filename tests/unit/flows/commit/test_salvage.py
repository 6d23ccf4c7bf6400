"""What was observed of passages, read out of whole and of damaged tables by another process."""

import logging
import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from flows.commit.salvage import read_apart, salvage_observed
from flows.run.index import Index
from indexes.layout import IndexLayout, IndexManifest, ModelManifest, dump_manifest
from indexes.places import write_durably
from indexes.stores.lance.store import LanceChunkStore
from ingest.diff.rows import Observed, observed_of
from tests.fakes.chunk_generations import publish, row
from tests.fakes.damage import flip, halve
from tests.fakes.graph_samples import DIM

GENERATION = 2
ROWS = [row(f"text {number}", fetched_at=f"2026-01-{number:02}T00:00:00Z") for number in range(1, 21)]
GONE, KEPT = ROWS[0][0], {chunk.id: observed_of(chunk) for chunk, _ in ROWS[1:]}


@pytest.fixture
def layout(tmp_path: Path) -> IndexLayout:
    """A generation of twenty rows, and one without the first of them."""
    layout = IndexLayout(tmp_path)
    model = ModelManifest(name="axes", sha256="0" * 64, dim=DIM, max_tokens=8)
    write_durably(
        layout.manifest, dump_manifest(IndexManifest(index_id="salvage", graph="lance", model=model))
    )
    store = LanceChunkStore.create(layout.lance, dim=DIM)
    publish(store, 1, ROWS)
    publish(store, GENERATION, gone=[GONE.id])
    return layout


def salvage(layout: IndexLayout) -> dict[str, Observed]:
    index = SimpleNamespace(layout=layout, current=lambda: GENERATION)
    return salvage_observed(cast(Index, index))


def harm(layout: IndexLayout, kind: str, damage: Callable[[Path], bool]) -> None:
    """Harm every file of a kind."""
    files = list((layout.lance / "chunks.lance" / kind).iterdir())
    assert files
    assert all(damage(path) for path in files)


def test_what_was_observed_of_whole_rows_is_kept(
    layout: IndexLayout, caplog: pytest.LogCaptureFixture
) -> None:
    assert salvage(layout) == KEPT
    assert caplog.messages == []


def test_a_bit_that_ends_the_process_that_reads_it_costs_what_was_observed_and_a_warning(
    layout: IndexLayout, caplog: pytest.LogCaptureFixture
) -> None:
    harm(layout, "_deletions", flip(0.97))
    assert read_apart(str(layout.root), GENERATION).returncode == -signal.SIGABRT
    with caplog.at_level(logging.WARNING):
        assert salvage(layout) == {}
    (message,) = caplog.messages
    assert message.startswith("when passages changed is lost with the tables")
    assert message.endswith("SIGABRT ended what read them")


def test_so_does_a_table_that_is_cut_off(layout: IndexLayout, caplog: pytest.LogCaptureFixture) -> None:
    harm(layout, "data", halve)
    assert salvage(layout) == {}
    (message,) = caplog.messages
    assert "cannot be read or written" in message
