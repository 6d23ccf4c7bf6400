"""Indexes by value are made of small pages, and what later runs append to them is, too."""

from pathlib import Path

import numpy as np

from indexes.stores.lance.store import LanceChunkStore
from indexes.stores.lance.table_upkeep import BTREE_PAGE
from indexes.stores.lance.tables import CHUNKS
from tests.fakes.varied_chunks import DIM, publish_rows, varied_row


def test_segments_that_runs_append_have_pages_of_the_declared_size(tmp_path: Path) -> None:
    import lance
    from lance.file import LanceFileReader

    rng = np.random.default_rng(7)
    store = LanceChunkStore.create(tmp_path, dim=DIM)
    for generation in (1, 2):
        keys = range(2_000 * generation, 2_000 * (generation + 1))
        publish_rows(store, generation, [varied_row(rng, key) for key in keys])
    table = tmp_path / f"{CHUNKS}.lance"
    by_id = next(one for one in lance.dataset(str(table)).describe_indices() if one.name == "id_idx")
    pages = [
        LanceFileReader(str(table / "_indices" / str(segment.uuid) / "page_lookup.lance")).num_rows()
        for segment in by_id.segments
    ]
    assert sum(pages) >= 4_000 // BTREE_PAGE
    assert len(store.at(2).get([varied_row(rng, key)[0].id for key in (2_000, 4_000, 5_999)])) == 3
