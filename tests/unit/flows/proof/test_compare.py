"""Rows that are held against rows that were derived, and their vectors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.repair.compare import are_near, compare_rows, compare_vectors, differing_fields
from indexes.ports import ChunkVectors, Vector
from tests.fakes.graph_samples import make_chunk

NONE = np.zeros((0, 2), np.float32)


def rows(*pairs: tuple[str, int]) -> list[dict[str, object]]:
    return [{"id": id_, "doc": "page:1", "value": value} for id_, value in pairs]


def test_equal_streams_differ_in_nothing() -> None:
    assert list(compare_rows("nodes", rows(("a", 1), ("b", 2)), rows(("a", 1), ("b", 2)))) == []


def test_each_kind_of_difference_is_told_with_its_row() -> None:
    found = compare_rows("edges", rows(("a", 1), ("b", 2), ("d", 4)), rows(("a", 9), ("c", 3), ("d", 4)))
    assert [(one.id, one.what.partition(":")[0].partition(",")[0]) for one in found] == [
        ("a", "value is 1"),
        ("b", "is in the store"),
        ("c", "is missing"),
    ]


def test_a_difference_shows_the_first_field_and_names_the_others() -> None:
    told = differing_fields({"id": "a", "x": 1, "y": "p" * 99}, {"id": "a", "x": 2, "z": 3})
    assert told == "x is 1, its bytes give 2, and y, z"


IDS = st.dictionaries(st.text("abc", min_size=1, max_size=3), st.integers(0, 2), max_size=12)


@given(IDS, IDS)
def test_as_many_differences_as_ids_that_are_not_equal_in_both(
    held: dict[str, int], derived: dict[str, int]
) -> None:
    found = compare_rows("nodes", rows(*sorted(held.items())), rows(*sorted(derived.items())))
    expected = [id_ for id_ in sorted({*held, *derived}) if held.get(id_) != derived.get(id_)]
    assert [one.id for one in found] == expected


def vectors(*values: float) -> ChunkVectors:
    text: Vector = np.array(values, np.float32)
    return ChunkVectors(text=text, heading=text, anchors=NONE, captions=NONE)


def test_noise_of_an_encoder_is_no_difference_and_another_text_is() -> None:
    one = np.array([1.0, 0.0], np.float32)
    assert are_near(one, np.array([1.0, 1e-4], np.float32))
    assert not are_near(one, np.array([0.99, 0.141], np.float32))


@pytest.mark.parametrize(
    ("held", "what"),
    [
        (vectors(1.0, 0.0), None),
        (vectors(0.6, 0.8), "cosine 0.6000"),
        (vectors(np.nan, 0.0), "not finite"),
        (vectors(1.0, 0.0, 0.0), "shape (3,), its text gives (2,)"),
    ],
)
def test_a_vector_that_its_text_does_not_give_is_told(held: ChunkVectors, what: str | None) -> None:
    chunk = make_chunk("said")
    found = list(compare_vectors([chunk], {chunk.id: held}, {chunk.id: vectors(1.0, 0.0)}))
    assert [(what or "") in one.what for one in found] == ([True, True] if what else [])


def test_vectors_of_chunks_that_one_side_lacks_are_not_compared() -> None:
    chunk = make_chunk("said")
    assert list(compare_vectors([chunk], {}, {chunk.id: vectors(1.0, 0.0)})) == []
