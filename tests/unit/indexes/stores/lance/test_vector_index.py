"""Indexes over vectors: when they come, are trained again and go, and what a search finds with them."""

from collections.abc import Iterator
from pathlib import Path

import lance
import lancedb
import numpy as np
import pytest
from lancedb.index import IvfFlat

from indexes.ports import ChunkStore, Vector
from indexes.stores.lance import search_indexes
from indexes.stores.lance.search_indexes import (
    ANCHORS_ROW_COUNTS,
    COLUMNS,
    MIN_ROWS,
    plan_training,
    trained_on,
)
from indexes.stores.lance.store import LanceChunkStore
from indexes.stores.lance.tables import CHUNKS, name_version
from indexes.table_files import tag_of
from schemas.evidence import Filter, SearchField
from tests.fakes.chunk_generations import Row, ids, publish, row
from tests.fakes.graph_samples import DIM, axis, make_vectors
from tests.fakes.memory_stores import MemoryChunkStore

BOTH = frozenset({"text_vector", "heading_vector"})


@pytest.mark.parametrize(
    ("trained", "rows", "dropped", "to_train"),
    [
        (None, MIN_ROWS - 1, False, False),
        (None, MIN_ROWS, False, True),
        (MIN_ROWS, 2 * MIN_ROWS - 1, False, False),
        (MIN_ROWS, 2 * MIN_ROWS, True, True),
        (8 * MIN_ROWS, 4 * MIN_ROWS, True, True),
        (MIN_ROWS, MIN_ROWS - 1, False, False),
        (MIN_ROWS, MIN_ROWS // 2, True, False),
        (4 * MIN_ROWS, MIN_ROWS // 3, True, False),
    ],
    ids=["few", "enough", "grown", "doubled", "halved", "just below", "half of enough", "nearly empty"],
)
def test_indexes_follow_the_number_of_rows(
    trained: int | None, rows: int, dropped: bool, to_train: bool
) -> None:
    held = {} if trained is None else dict.fromkeys(BOTH, trained)

    assert plan_training(held, {**dict.fromkeys(BOTH, rows), "anchor_vectors": 0}) == (
        BOTH if dropped else frozenset(),
        BOTH if to_train else frozenset(),
    )


def test_an_index_that_one_column_lacks_is_trained_for_it_alone() -> None:
    least = MIN_ROWS // ANCHORS_ROW_COUNTS
    rows = {"text_vector": MIN_ROWS, "heading_vector": MIN_ROWS, "anchor_vectors": least - 1}

    assert plan_training({"text_vector": MIN_ROWS}, rows) == (frozenset(), {"heading_vector"})
    assert plan_training(rows, {**rows, "anchor_vectors": least // 2 - 1}) == (
        {"anchor_vectors"},
        frozenset(),
    )


def test_link_texts_are_indexed_from_fewer_rows_on() -> None:
    few = {"text_vector": 9, "heading_vector": 9, "anchor_vectors": MIN_ROWS // ANCHORS_ROW_COUNTS}

    assert plan_training({}, few) == (frozenset(), {"anchor_vectors"})


def test_the_name_of_an_index_tells_what_it_was_trained_on() -> None:
    names = ["doc_idx", "text_vector_by_the_root_of_20000", "heading_vector_by_the_root_of_41"]

    assert trained_on(names) == {"text_vector": 20_000, "heading_vector": 41}


def _random_unit(rng: np.random.Generator) -> Vector:
    vector = rng.standard_normal(DIM).astype(np.float32)
    return vector / np.linalg.norm(vector)


def _rows(number: int, *, first: int = 0) -> list[Row]:
    rng = np.random.default_rng(first)
    return [
        row(
            f"text {n}",
            make_vectors(
                _random_unit(rng), heading=axis(n % 3), anchors=np.stack([_random_unit(rng), axis(n % 5)])
            ),
            page_no=n % 7,
            anchor_texts=(f"link {n}", "other"),
        )
        for n in range(first, first + number)
    ]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LanceChunkStore]:
    """A store that finds 200 rows enough."""
    monkeypatch.setattr(search_indexes, "MIN_ROWS", 200)
    store = LanceChunkStore.create(tmp_path / "index", dim=DIM)
    yield store
    store.close()


def _held(tmp_path: Path) -> dict[str, int]:
    table = lancedb.connect(tmp_path / "index").open_table(CHUNKS)
    return trained_on(index.name for index in table.list_indices())


def test_indexes_come_with_the_rows_and_go_with_them(tmp_path: Path, store: LanceChunkStore) -> None:
    rows = _rows(450)
    publish(store, 1, rows[:40])
    assert _held(tmp_path) == {}
    publish(store, 2, rows[40:210])
    assert _held(tmp_path) == dict.fromkeys(COLUMNS, 210)
    publish(store, 3, rows[210:230])
    assert _held(tmp_path) == dict.fromkeys(COLUMNS, 210)
    publish(store, 4, rows[230:])
    assert _held(tmp_path) == dict.fromkeys(COLUMNS, 450)
    publish(store, 5, gone=ids(rows[20:]))
    assert _held(tmp_path) == {}
    assert len(store.at(4).search_vector(SearchField.TEXT, axis(0), top_k=10)) == 10


def test_an_index_has_as_many_partitions_as_its_name_says(tmp_path: Path, store: LanceChunkStore) -> None:
    publish(store, 1, _rows(400))

    statistics = lance.dataset(str(tmp_path / "index" / f"{CHUNKS}.lance")).stats

    (text,) = statistics.index_stats("text_vector_by_the_root_of_400")["indices"]
    (anchors,) = statistics.index_stats("anchor_vectors_by_the_root_of_400")["indices"]
    assert (text["num_partitions"], anchors["num_partitions"]) == (20, 40)


def test_an_index_of_an_earlier_version_is_trained_anew(tmp_path: Path, store: LanceChunkStore) -> None:
    rows = _rows(400)
    publish(store, 1, rows[:-20])
    table = lancedb.connect(tmp_path / "index").open_table(CHUNKS)
    table.drop_index("text_vector_by_the_root_of_380")
    table.create_index(
        "text_vector", config=IvfFlat(distance_type="cosine"), name="text_vector_trained_on_380"
    )
    name_version(table, tag_of(1), table.version)

    publish(store, 2, rows[-20:])

    table.checkout_latest()
    assert "text_vector_trained_on_380" not in {index.name for index in table.list_indices()}
    assert _held(tmp_path) == {"text_vector": 400, "heading_vector": 380, "anchor_vectors": 380}


def _both(store: LanceChunkStore, rows: list[Row]) -> tuple[ChunkStore, ChunkStore]:
    memory = MemoryChunkStore(dim=DIM)
    for one in (store, memory):
        publish(one, 1, rows[:-20])
        publish(one, 2, rows[-20:])  # not in the index, but searched
    return store, memory


def test_a_search_with_an_index_finds_what_an_exact_one_finds(tmp_path: Path, store: LanceChunkStore) -> None:
    rows = _rows(400)
    indexed, exact = _both(store, rows)
    assert _held(tmp_path) == dict.fromkeys(COLUMNS, 380)

    for _, vectors in rows[::20]:
        found = indexed.at(2).search_vector(SearchField.TEXT, vectors.text, top_k=10)
        wanted = exact.at(2).search_vector(SearchField.TEXT, vectors.text, top_k=10)
        assert [hit.chunk_id for hit in found] == [hit.chunk_id for hit in wanted]
        assert [hit.score for hit in found] == pytest.approx([hit.score for hit in wanted], abs=2e-6)


def test_the_best_of_several_link_texts_is_found_with_an_index_too(store: LanceChunkStore) -> None:
    rows = _rows(400)
    indexed, exact = _both(store, rows)

    for _, vectors in rows[::40]:
        found = indexed.at(2).search_vector(SearchField.ANCHORS, vectors.anchors[0], top_k=10)
        wanted = exact.at(2).search_vector(SearchField.ANCHORS, vectors.anchors[0], top_k=10)
        assert [hit.chunk_id for hit in found] == [hit.chunk_id for hit in wanted]
        assert [hit.score for hit in found] == pytest.approx([hit.score for hit in wanted], abs=2e-6)


def test_few_link_texts_get_no_index(tmp_path: Path, store: LanceChunkStore) -> None:
    publish(store, 1, [row(f"plain {n}") for n in range(150)] + _rows(40))
    assert _held(tmp_path) == {}
    publish(store, 2, [row(f"more {n}") for n in range(60)])
    assert _held(tmp_path) == {"text_vector": 250, "heading_vector": 250}


def test_ties_are_cut_by_id_with_an_index_too(store: LanceChunkStore) -> None:
    rows = _rows(400)
    indexed, exact = _both(store, rows)

    found = indexed.at(2).search_vector(SearchField.HEADING, axis(1), top_k=10)

    same = [chunk.id for chunk, vectors in rows if np.array_equal(vectors.heading, axis(1))]
    assert [hit.chunk_id for hit in found] == sorted(same)[:10]
    assert found == exact.at(2).search_vector(SearchField.HEADING, axis(1), top_k=10)


def test_a_filter_finds_all_that_it_leaves(store: LanceChunkStore) -> None:
    rows = _rows(400)
    indexed, exact = _both(store, rows)
    third = (Filter(field="page_no", values=("3",)),)

    found = indexed.at(2).search_vector(SearchField.TEXT, axis(0), top_k=100, filters=third)

    wanted = exact.at(2).search_vector(SearchField.TEXT, axis(0), top_k=100, filters=third)
    assert len(found) == sum(chunk.page_no == 3 for chunk, _ in rows)
    assert [hit.chunk_id for hit in found] == [hit.chunk_id for hit in wanted]
