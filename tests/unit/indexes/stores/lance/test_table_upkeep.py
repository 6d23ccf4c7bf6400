"""Upkeep of real tables by both drivers: what is found stays what a table made anew finds."""

import random
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import lancedb
import numpy as np
import pytest

from indexes.ports import ChunkReader
from indexes.publish.files import FileCheck, stamp_files
from indexes.stores.lance import search_indexes, table_upkeep
from indexes.stores.lance.store import LanceChunkStore
from indexes.stores.lance.tables import CHUNKS
from indexes.table_files import files_of, shape_of, tag_of
from schemas.errors import StaleLease
from schemas.evidence import Filter, SearchField
from tests.fakes.varied_chunks import DIM, WORDS, Row, publish_rows, varied_row

ROUNDS = 24


@pytest.fixture(scope="module", autouse=True)
def small_thresholds() -> Iterator[None]:
    """What takes a hundred thousand rows, with hundreds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_upkeep, "SMALLEST_TIER", 40)
        patch.setattr(table_upkeep, "MIN_DELETED_ROWS", 50)
        patch.setattr(table_upkeep, "MAX_UNINDEXED_ROWS", 30)
        patch.setattr(table_upkeep, "MAX_STALE_VERSIONS", 6)
        patch.setattr(search_indexes, "MIN_ROWS", 400)
        yield


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[int, Row]]:
    """A table after many rounds of new, changed and deleted rows, at generation ROUNDS + 1; and its rows."""
    rng, picks = np.random.default_rng(7), random.Random(7)
    folder = tmp_path_factory.mktemp("grown")
    store = LanceChunkStore.create(folder, dim=DIM)
    held = {key: varied_row(rng, key) for key in range(500)}
    publish_rows(store, 1, list(held.values()))
    for number in range(2, ROUNDS + 2):
        gone = picks.sample(sorted(held), 6)
        deleted = [held.pop(key)[0].id for key in gone]
        edited = picks.sample(sorted(held), 10)
        fresh = {key: varied_row(rng, key) for key in (*edited, *range(500 + 25 * number, 525 + 25 * number))}
        held |= fresh
        publish_rows(store, number, list(fresh.values()), deleted)
        store.writer().prune(keep=range(max(1, number - 2), number + 1))
    store.close()
    return folder, held


@pytest.fixture
def changed(grown: tuple[Path, dict[int, Row]], tmp_path: Path) -> tuple[LanceChunkStore, dict[int, Row]]:
    """A copy of it."""
    folder, held = grown
    return LanceChunkStore(Path(shutil.copytree(folder, tmp_path / "index")), dim=DIM), held


@pytest.fixture(scope="module")
def anew(grown: tuple[Path, dict[int, Row]], tmp_path_factory: pytest.TempPathFactory) -> ChunkReader:
    """The same rows, loaded at once."""
    store = LanceChunkStore.create(tmp_path_factory.mktemp("anew"), dim=DIM)
    publish_rows(store, 1, list(grown[1].values()))
    return store.at(1)


def asked(reader: ChunkReader, *, top_k: int = 15) -> Iterator[dict[str, float]]:
    """Answers to questions in words: score by id."""
    for start in range(0, 120, 3):
        question = " ".join(WORDS[start : start + 3])
        hits = reader.search_text(SearchField.TEXT, question, top_k=top_k)
        yield {hit.chunk_id: hit.score for hit in hits}


def equal_scores(one: ChunkReader, other: ChunkReader) -> bool:
    """Whether both answer alike, but for which of equal scores are cut off."""
    for left, right in zip(asked(one), asked(other), strict=True):
        if sorted(map(partial(round, ndigits=4), left.values())) != sorted(
            map(partial(round, ndigits=4), right.values())
        ):
            return False
    return True


def test_after_many_rounds_rows_counts_and_neighbours_are_those_of_a_table_made_anew(
    changed: tuple[LanceChunkStore, dict[int, Row]], anew: ChunkReader
) -> None:
    store, held = changed
    reader = store.at(ROUNDS + 1)
    assert reader.state().digest == anew.state().digest
    for lang in ("l0", "l1", "l2"):
        filters = [Filter(field="lang", values=(lang,))]
        found = reader.search_text(SearchField.TEXT, "word0 word1", top_k=2000, filters=filters)
        wanted = anew.search_text(SearchField.TEXT, "word0 word1", top_k=2000, filters=filters)
        assert {hit.chunk_id for hit in found} == {hit.chunk_id for hit in wanted} != set()
    for key in random.Random(1).sample(sorted(held), 60):
        chunk, vectors = held[key]
        assert [hit.chunk_id for hit in reader.search_text(SearchField.TEXT, f"row{key}", top_k=9)] == [
            chunk.id
        ]
        near = reader.search_vector(SearchField.TEXT, vectors.text, top_k=5)
        exact = anew.search_vector(SearchField.TEXT, vectors.text, top_k=5)
        assert near[0].chunk_id == chunk.id
        assert {hit.chunk_id for hit in near} == {hit.chunk_id for hit in exact}


def test_maintenance_gives_the_next_generation_the_scores_of_a_table_made_anew(
    changed: tuple[LanceChunkStore, dict[int, Row]], anew: ChunkReader, tmp_path: Path
) -> None:
    """Rows that changed or went stay in the statistics of BM25 until their files are written again."""
    store, _ = changed
    table, number = tmp_path / "index" / f"{CHUNKS}.lance", ROUNDS + 1
    before, kept = shape_of(table, number), store.at(number).state()
    told = stamp_files(table, files_of(table, number), known={})
    assert not equal_scores(store.at(number), anew)

    store.writer().maintain(number, fence=lambda: None)

    after = shape_of(table, number)
    assert (after.files, after.deleted, after.segments) == (1, 0, 1)
    assert before.files > 1 < before.segments
    assert FileCheck(table).damaged(told) == (), "readers keep the files they had"
    assert store.at(number).state() == kept
    publish_rows(store, number + 1, [])
    assert store.at(number + 1).state().digest == kept.digest
    assert equal_scores(store.at(number + 1), anew)


def test_a_run_makes_two_versions_and_maintenance_has_nothing_to_do_twice(
    changed: tuple[LanceChunkStore, dict[int, Row]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for the days on which indexes over vectors are trained, at each doubling."""
    store, _ = changed
    rng = np.random.default_rng(3)
    database = lancedb.connect(tmp_path / "index")
    store.writer().maintain(ROUNDS + 1, fence=lambda: None)
    version = database.open_table(CHUNKS).version
    store.writer().maintain(ROUNDS + 1, fence=lambda: None)
    assert database.open_table(CHUNKS).version == version
    monkeypatch.setattr(search_indexes, "MIN_ROWS", 10**6)
    publish_rows(store, ROUNDS + 2, [])
    version = database.open_table(CHUNKS).version
    for number in range(ROUNDS + 3, ROUNDS + 9):
        publish_rows(store, number, [varied_row(rng, 10_000 + 40 * number + place) for place in range(40)])
        assert database.open_table(CHUNKS).version - version <= 2
        version = database.open_table(CHUNKS).version


def test_maintenance_that_lost_its_lease_leaves_nothing_to_build_on(
    changed: tuple[LanceChunkStore, dict[int, Row]], tmp_path: Path
) -> None:
    store, _ = changed
    calls = iter([None, StaleLease("another has taken over")])

    def fence() -> None:
        if error := next(calls):
            raise error

    with pytest.raises(StaleLease):
        store.writer().maintain(ROUNDS + 1, fence=fence)

    tags = lancedb.connect(tmp_path / "index").open_table(CHUNKS).tags.list()
    assert set(tags) == {tag_of(number) for number in range(ROUNDS - 1, ROUNDS + 2)}
    kept = store.at(ROUNDS + 1).state().digest
    publish_rows(store, ROUNDS + 2, [])
    assert store.at(ROUNDS + 2).state().digest == kept


def test_pylance_is_of_the_release_that_lancedb_has_inside() -> None:
    """Else one could write what the other cannot read."""
    import lance

    (library,) = Path(lancedb.__file__).parent.glob("_lancedb*.so")
    assert f"lance-core-{lance.__version__}".encode() in library.read_bytes()
