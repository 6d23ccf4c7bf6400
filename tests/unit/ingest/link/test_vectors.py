"""Vectors of passages, read a part at a time."""

from collections.abc import Iterator

import numpy as np

from ingest.link.chunk_columns import ChunkColumns, all_but, columns_of, corpus_of
from ingest.link.nearest import Floats
from tests.fakes.graph_samples import make_chunk

PASSAGES: ChunkColumns = columns_of(make_chunk(f"text {number}") for number in range(5))
IDS = [id_.decode() for id_ in PASSAGES.ids.tolist()]


def parts(*places: tuple[int, ...]) -> Iterator[tuple[list[str], Floats]]:
    """The passages at some places, each pointing along its own axis, twice as far as it should."""
    for part in places:
        yield [IDS[place] for place in part], 2 * np.eye(5, dtype=np.float32)[list(part)]


def test_passages_come_in_order_of_place_with_vectors_of_unit_length() -> None:
    found = corpus_of(lambda: parts((4, 0), (2, 1, 3)), PASSAGES, np.array([0, 3, 4]))

    assert found.places.tolist() == [0, 3, 4]
    assert np.array_equal(found.vectors, np.eye(5, dtype=np.float32)[[0, 3, 4]])
    assert np.array_equal(found.sections, PASSAGES.sections[[0, 3, 4]])


def test_of_a_passage_that_comes_twice_the_first_counts() -> None:
    def vectors() -> Iterator[tuple[list[str], Floats]]:
        yield from parts((1,))
        yield [IDS[1]], np.ones((1, 5), np.float32)

    (only,) = all_but(vectors, PASSAGES, np.array([0, 2, 3, 4]))

    assert (only.places.tolist(), only.vectors.tolist()) == ([1], [[0, 1, 0, 0, 0]])


def test_what_has_no_vector_or_a_zero_one_is_left_alone() -> None:
    found = corpus_of(lambda: parts((2,)), PASSAGES, np.array([1, 2]))
    zero = corpus_of(lambda: iter([([IDS[0]], np.zeros((1, 5), np.float32))]), PASSAGES, np.array([0]))

    assert (found.places.tolist(), found.vectors.shape) == ([2], (1, 5))
    assert not zero.vectors.any()


def test_passages_that_nobody_knows_are_passed_over() -> None:
    def vectors() -> Iterator[tuple[list[str], Floats]]:
        yield ["chunk:unknown", IDS[3]], np.ones((2, 5), np.float32)

    assert [part.places.tolist() for part in all_but(vectors, PASSAGES, np.array([0]))] == [[3]]
