"""What was observed of passages, read out of whole and of damaged tables by another process."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from flows.commit.salvage import salvage_observed
from flows.run.index import Index
from indexes.layout import IndexLayout
from indexes.manifest import IndexManifest, ModelManifest, dump_manifest
from indexes.places import write_durably
from indexes.stores.lance.store import LanceChunkStore
from ingest.diff.rows import Observed, observed_of
from tests.fakes.chunk_generations import publish, row
from tests.fakes.damage import flip
from tests.fakes.graph_samples import DIM

GENERATION = 1
ROWS = [row(f"text {number}", fetched_at=f"2026-01-{number:02}T00:00:00Z") for number in range(1, 21)]


@pytest.fixture
def layout(tmp_path: Path) -> IndexLayout:
    layout = IndexLayout(tmp_path)
    model = ModelManifest(name="axes", sha256="0" * 64, dim=DIM, max_tokens=8)
    write_durably(
        layout.manifest, dump_manifest(IndexManifest(index_id="salvage", graph="lance", model=model))
    )
    publish(LanceChunkStore.create(layout.lance, dim=DIM), GENERATION, ROWS)
    return layout


def salvage(layout: IndexLayout) -> dict[str, Observed]:
    index = SimpleNamespace(layout=layout, current=lambda: GENERATION)
    return salvage_observed(cast(Index, index))


def test_what_was_observed_of_whole_rows_is_kept(layout: IndexLayout) -> None:
    assert salvage(layout) == {chunk.id: observed_of(chunk) for chunk, _ in ROWS}


@pytest.mark.parametrize("place", [0.5, 0.97])
def test_damage_costs_what_was_observed_and_not_the_process_that_asks(
    layout: IndexLayout, place: float
) -> None:
    for path in (layout.lance / "chunks.lance" / "data").iterdir():
        assert flip(place)(path)
    assert salvage(layout).items() <= {chunk.id: observed_of(chunk) for chunk, _ in ROWS}.items()
