"""Token vectors of chunks: kept beside the others where a store has them, and read alone."""

import numpy as np
import pytest

from indexes.ports import ChunkStore, ChunkVectors, TokenVectors
from schemas.errors import SchemaMismatch
from schemas.evidence import SearchField
from tests.fakes.chunk_generations import ids, publish, row
from tests.fakes.graph_samples import axis, none, unit


def tokens(*axes: int) -> TokenVectors:
    return np.stack([axis(number) for number in axes]).astype(np.float16)


def with_tokens(several: TokenVectors) -> ChunkVectors:
    return ChunkVectors(text=axis(0), heading=axis(1), anchors=none(), captions=none(), tokens=several)


def test_token_vectors_come_back_bit_by_bit_in_their_order(token_store: ChunkStore) -> None:
    uneven = np.stack([unit(0.3, 0.1), unit(0.7, 0.2, 0.9)]).astype(np.float16)
    rows = [row("one", with_tokens(uneven)), row("two", with_tokens(tokens(5, 3, 4)))]
    publish(token_store, 1, rows)

    found = token_store.at(1).token_vectors([*ids(rows), "chunk:unknown"])

    assert sorted(found) == ids(rows)
    for chunk, vectors in rows:
        assert found[chunk.id].dtype == np.float16
        assert found[chunk.id].tobytes() == vectors.tokens.tobytes()
        assert found[chunk.id].shape == vectors.tokens.shape


def test_reading_vectors_does_not_read_those_of_tokens(token_store: ChunkStore) -> None:
    (chunk, vectors), *_ = rows = [row("one", with_tokens(tokens(1, 2)))]
    publish(token_store, 1, rows)

    found = token_store.at(1).vectors([chunk.id])[chunk.id]

    assert found.tokens.size == 0
    assert np.array_equal(found.text, vectors.text)


def test_other_token_vectors_are_another_row_and_no_damage(token_store: ChunkStore) -> None:
    before = publish(token_store, 1, [row("one", with_tokens(tokens(1, 2)))])
    after = publish(token_store, 2, [row("one", with_tokens(tokens(2, 1)))])

    assert before.digest != after.digest
    assert token_store.at(1).damaged_rows() == token_store.at(2).damaged_rows() == ()
    (seen,) = token_store.at(1).token_vectors(ids([row("one")])).values()
    assert np.array_equal(seen, tokens(1, 2))


def test_searches_are_those_of_a_store_without(token_store: ChunkStore) -> None:
    rows = [row("pump valve", with_tokens(tokens(1))), row("engine", with_tokens(tokens(2, 3)))]
    publish(token_store, 1, rows)
    reader = token_store.at(1)

    assert [hit.chunk_id for hit in reader.search_text(SearchField.TEXT, "valve", top_k=5)] == [rows[0][0].id]
    assert len(reader.search_vector(SearchField.TEXT, axis(0), top_k=5)) == 2


@pytest.mark.parametrize(
    "wrong",
    [np.full((2, 8), 0.9, np.float16), np.ones((2, 3), np.float16), np.full((1, 8), np.nan, np.float16)],
    ids=["not of unit length", "of another dimension", "not a number"],
)
def test_token_vectors_that_no_reader_could_use_are_refused(
    token_store: ChunkStore, wrong: TokenVectors
) -> None:
    with pytest.raises(SchemaMismatch, match="token vector"):
        publish(token_store, 1, [row("one", with_tokens(wrong))])


def test_a_chunk_without_any_is_left_out(token_store: ChunkStore) -> None:
    rows = [row("one", with_tokens(tokens(1))), row("two")]
    publish(token_store, 1, rows)

    assert list(token_store.at(1).token_vectors(ids(rows))) == [rows[0][0].id]


def test_a_store_that_keeps_none_gives_none(chunk_store: ChunkStore) -> None:
    rows = [row("one"), row("two")]
    state = publish(chunk_store, 1, rows)

    assert chunk_store.at(1).token_vectors(ids(rows)) == {}
    assert chunk_store.at(0).token_vectors(ids(rows)) == {}
    assert chunk_store.at(1).state() == state
