"""Upkeep of a table in object storage, by a server that speaks S3."""

from pathlib import Path

import numpy as np
import pytest

from indexes.places import index_place
from indexes.stores.lance import table_upkeep
from indexes.stores.lance.store import LanceChunkStore
from indexes.stores.lance.tables import CHUNKS
from indexes.table_files import shape_of
from schemas.evidence import SearchField
from tests.fakes.varied_chunks import DIM, publish_rows, varied_row


def test_a_table_in_a_bucket_is_kept_in_order_and_maintained(
    bucket_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_upkeep, "MAX_UNINDEXED_ROWS", 30)
    rng = np.random.default_rng(7)
    place: Path = index_place(f"{bucket_url}/index")
    store = LanceChunkStore.create(place, dim=DIM)
    publish_rows(store, 1, [varied_row(rng, key) for key in range(60)])
    for number in (2, 3):
        publish_rows(store, number, [varied_row(rng, key) for key in range(40 * number, 40 * number + 40)])
    kept = store.at(3).state()

    store.writer().maintain(3, fence=lambda: None)

    publish_rows(store, 4, [varied_row(rng, 500)])
    shape = shape_of(place / f"{CHUNKS}.lance", 4)
    assert store.at(3).state() == kept
    assert len(store.at(4).search_text(SearchField.TEXT, "row500", top_k=3)) == 1
    assert (shape.files, shape.deleted) == (2, 0)
    store.close()
