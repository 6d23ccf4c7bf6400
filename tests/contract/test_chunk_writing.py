"""Writing chunks: what one apply does, and what is refused."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from indexes.ports import ChunkStore
from indexes.stores.lance import chunks as writer_module
from schemas.errors import ConfigError, SchemaMismatch, StaleLease
from tests.fakes.chunk_generations import Row, publish, row
from tests.fakes.graph_samples import DIM, axis, make_vectors


def test_delete_and_upsert_go_in_one_apply(chunk_store: ChunkStore) -> None:
    old = [row("stays"), row("goes"), row("changes")]
    publish(chunk_store, 1, old)
    changed = (replace(old[2][0], status="retired"), old[2][1])
    publish(chunk_store, 2, [changed, row("comes")], [old[1][0].id, "chunk:never-there"])
    found = {chunk.text: chunk.status for chunk in chunk_store.at(2).scan()}
    assert found == {"stays": None, "changes": "retired", "comes": None}


def test_an_id_both_upserted_and_deleted_stays(chunk_store: ChunkStore) -> None:
    item = row("moved")
    publish(chunk_store, 1, [item])
    publish(chunk_store, 2, [item, row("other")], [item[0].id])
    assert item[0].id in chunk_store.at(2).row_hashes()


def test_deletes_without_upserts_are_applied(chunk_store: ChunkStore) -> None:
    rows = [row("a"), row("b")]
    publish(chunk_store, 1, rows)
    assert publish(chunk_store, 2, gone=[rows[0][0].id]).counts == {"html": 1}


def test_an_empty_apply_changes_nothing(chunk_store: ChunkStore) -> None:
    first = publish(chunk_store, 1, [row("a")])
    assert publish(chunk_store, 2) == first


def test_equal_rows_in_one_apply_do_not_double(chunk_store: ChunkStore) -> None:
    new, known = row("new"), row("known")
    publish(chunk_store, 1, [known])
    state = publish(chunk_store, 2, [new, known, new, known, new])
    assert state.counts == {"html": 2}
    assert [chunk.text for chunk in chunk_store.at(2).get([new[0].id])] == ["new"]


def test_different_rows_of_one_id_are_refused(chunk_store: ChunkStore) -> None:
    item = row("a")
    writer = chunk_store.writer()
    writer.stage(1, base=0)
    with pytest.raises(SchemaMismatch, match="two different rows"):
        writer.apply([item, (replace(item[0], status="other"), item[1])], [])


def test_several_applies_add_up(chunk_store: ChunkStore) -> None:
    writer = chunk_store.writer()
    writer.stage(1, base=0)
    for number in range(3):
        writer.apply([row(f"part {number}")], [])
    assert writer.finish(1).counts == {"html": 3}


def test_applying_and_finishing_again_gives_the_same_state(chunk_store: ChunkStore) -> None:
    rows = [row("a"), row("b")]
    writer = chunk_store.writer()
    writer.stage(1, base=0)
    writer.apply(rows, ["chunk:x"])
    once = writer.finish(1)
    writer.apply(rows, ["chunk:x"])
    again = writer.finish(1)
    assert (again.digest, again.counts) == (once.digest, once.counts)
    assert chunk_store.at(1).state() == again


UNSOUND = (
    make_vectors(np.full(DIM, np.nan, dtype=np.float32)),
    make_vectors(np.full(DIM, np.inf, dtype=np.float32)),
    make_vectors(axis(0) * np.float32(1.5)),
    make_vectors(np.zeros(DIM, dtype=np.float32)),
    make_vectors(axis(0, dim=DIM + 1)),
    make_vectors(np.zeros(0, dtype=np.float32)),
    make_vectors(heading=axis(0, dim=DIM - 1)),
    make_vectors(anchors=np.stack([axis(0), axis(1) * np.float32(2)])),
    make_vectors(anchors=axis(0)),
    make_vectors(captions=axis(0, dim=4).reshape(1, 4)),
)


def test_an_unsound_vector_or_number_is_refused_and_nothing_is_written(chunk_store: ChunkStore) -> None:
    before = publish(chunk_store, 1, [row("a")])
    writer = chunk_store.writer()
    writer.stage(2, base=1)
    for vectors in UNSOUND:
        with pytest.raises(SchemaMismatch):
            writer.apply([row("fine"), row("bad", vectors)], [])
    with pytest.raises(SchemaMismatch, match="cannot be stored"):
        writer.apply([row("bad", ocr_conf=float("nan"))], [])
    assert writer.finish(2).digest == before.digest


def test_an_error_among_the_upserts_comes_out_and_writes_nothing(chunk_store: ChunkStore) -> None:
    def broken() -> Iterator[Row]:
        for number in range(1500):
            yield row(f"text {number}")
        raise ConfigError("told to stop", subject="test")

    writer = chunk_store.writer()
    writer.stage(1, base=0)
    with pytest.raises(ConfigError, match="told to stop"):
        writer.apply(broken(), [])
    assert writer.finish(1).counts == {}


def test_an_error_among_few_upserts_to_rows_that_are_there_is_the_same_error(
    chunk_store: ChunkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "BATCH_ROWS", 2)

    def broken(error: Exception) -> Iterator[Row]:
        for number in range(5):
            yield row(f"text {number}")
        raise error

    publish(chunk_store, 1, [row("a")])
    writer = chunk_store.writer()
    for error in (ValueError("a conflict of encodings"), OSError("gone"), RuntimeError("no")):
        writer.stage(2, base=1)
        with pytest.raises(type(error), match=str(error)):
            writer.apply(broken(error), [])
        writer.abort(2, base=1)
    publish(chunk_store, 2, [row("b")])
    assert sorted(chunk.text for chunk in chunk_store.at(2).scan()) == ["a", "b"]


def test_writing_before_staging_is_refused(chunk_store: ChunkStore) -> None:
    with pytest.raises(ConfigError, match="stage"):
        chunk_store.writer().apply([row("a")], [])


def test_a_second_writer_makes_the_first_one_stale(chunk_store: ChunkStore) -> None:
    publish(chunk_store, 1, [row("a")])
    first, second = chunk_store.writer(), chunk_store.writer()
    first.stage(2, base=1)
    first.apply([row("b")], [])
    second.stage(2, base=1)
    second.apply([row("c")], [])
    with pytest.raises(StaleLease):
        first.apply([row("d")], [])
    with pytest.raises(StaleLease):
        first.finish(2)
    second.finish(2)
    assert sorted(chunk.text for chunk in chunk_store.at(2).scan()) == ["a", "c"]
