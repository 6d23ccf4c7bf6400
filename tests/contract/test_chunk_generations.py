"""Generations of a chunk store: each is whole, apart from the others, and can be taken back."""

from dataclasses import replace

import pytest

from indexes.ports import ChunkStore
from schemas.errors import StoreUnavailable
from schemas.evidence import SearchField
from tests.fakes.chunk_generations import publish, row
from tests.fakes.graph_samples import axis, make_vectors


def test_two_generations_are_read_side_by_side(chunk_store: ChunkStore) -> None:
    item = row("old words")
    publish(chunk_store, 1, [item])
    old = chunk_store.at(1)
    publish(chunk_store, 2, [(replace(item[0], text="new words"), make_vectors(axis(4)))])
    new = chunk_store.at(2)
    assert [old.get([item[0].id])[0].text, new.get([item[0].id])[0].text] == ["old words", "new words"]
    assert [len(reader.search_text(SearchField.TEXT, "old", top_k=5)) for reader in (old, new)] == [1, 0]
    assert [reader.search_vector(SearchField.TEXT, axis(4), top_k=1)[0].score for reader in (old, new)] == [
        0,
        1,
    ]
    assert list(chunk_store.at(0).scan()) == []


def test_what_is_staged_is_not_seen_before_it_is_finished(chunk_store: ChunkStore) -> None:
    publish(chunk_store, 1, [row("a")])
    writer = chunk_store.writer()
    writer.stage(2, base=1)
    writer.apply([row("b")], [])
    assert len(list(chunk_store.at(1).scan())) == 1
    with pytest.raises(StoreUnavailable):
        chunk_store.at(2)


def test_abort_leaves_no_trace(chunk_store: ChunkStore) -> None:
    before = publish(chunk_store, 1, [row("a")])
    writer = chunk_store.writer()
    writer.stage(2, base=1)
    writer.apply([row("b")], [row("a")[0].id])
    writer.finish(2)
    writer.abort(2, base=1)
    writer.abort(2, base=1)
    with pytest.raises(StoreUnavailable):
        chunk_store.at(2)
    assert chunk_store.at(1).state() == before
    assert publish(chunk_store, 3, base=1).digest == before.digest


def test_staging_after_an_abandoned_apply_starts_from_the_base(chunk_store: ChunkStore) -> None:
    publish(chunk_store, 1, [row("a")])
    abandoned = chunk_store.writer()
    abandoned.stage(2, base=1)
    abandoned.apply([row("half done")], [row("a")[0].id])
    publish(chunk_store, 2, [row("b")])
    assert sorted(chunk.text for chunk in chunk_store.at(2).scan()) == ["a", "b"]


def test_replaying_a_finished_generation_gives_the_same_rows(chunk_store: ChunkStore) -> None:
    publish(chunk_store, 1, [row("a"), row("b")])
    first = publish(chunk_store, 2, [row("c")], [row("a")[0].id])
    again = publish(chunk_store, 2, [row("c")], [row("a")[0].id])
    assert (again.digest, again.counts) == (first.digest, first.counts)
    assert chunk_store.at(2).state() == again


def test_after_a_rollback_the_next_generation_builds_on_the_older_one(chunk_store: ChunkStore) -> None:
    publish(chunk_store, 1, [row("a")])
    publish(chunk_store, 2, [row("bad")], [row("a")[0].id])
    publish(chunk_store, 3, [row("good")], base=1)
    texts = {n: sorted(chunk.text for chunk in chunk_store.at(n).scan()) for n in (1, 2, 3)}
    assert texts == {1: ["a"], 2: ["bad"], 3: ["a", "good"]}
    assert chunk_store.at(3).search_text(SearchField.TEXT, "bad", top_k=3) == ()


def test_staging_on_a_generation_that_is_not_there_is_refused(chunk_store: ChunkStore) -> None:
    with pytest.raises(StoreUnavailable):
        chunk_store.writer().stage(9, base=8)


def test_prune_keeps_what_is_kept_readable_and_nothing_else(chunk_store: ChunkStore) -> None:
    states = {n: publish(chunk_store, n, [row(f"text {n}")]) for n in range(1, 6)}
    writer = chunk_store.writer()
    writer.prune(keep=[4, 5])
    writer.prune(keep=[4, 5])
    for generation in (1, 2, 3):
        with pytest.raises(StoreUnavailable):
            chunk_store.at(generation)
    for generation in (4, 5):
        reader = chunk_store.at(generation)
        assert reader.state() == states[generation]
        assert len(reader.search_text(SearchField.TEXT, "text", top_k=9)) == generation
        assert reader.damaged_rows() == ()
    assert publish(chunk_store, 6, [row("more")]).counts == {"html": 6}


def test_maintenance_changes_nothing_that_readers_of_any_generation_see(chunk_store: ChunkStore) -> None:
    publish(chunk_store, 1, [row("a"), row("b")])
    before = publish(chunk_store, 2, [row("c")], [row("a")[0].id])
    kept = chunk_store.at(1)
    steps: list[None] = []

    chunk_store.writer().maintain(2, fence=lambda: steps.append(None))

    assert sorted(chunk.text for chunk in kept.scan()) == ["a", "b"]
    assert [chunk_store.at(number).state() for number in (1, 2)] == [kept.state(), before]
    after = publish(chunk_store, 3, [row("d")])
    assert sorted(chunk.text for chunk in chunk_store.at(3).scan()) == ["b", "c", "d"]
    assert chunk_store.at(3).state() == after
    assert publish(chunk_store, 4, base=2).digest == before.digest, "after a rollback, too"
