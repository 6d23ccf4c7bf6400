"""Hashes that all stores must agree on."""

from dataclasses import replace

import numpy as np
import pytest

from indexes.digests import chunk_sha256, edge_sha256, node_sha256, row_sha256, sorted_digest
from schemas.errors import SchemaMismatch
from schemas.ids import sha256_hex
from schemas.nodes import BBox
from tests.fakes.graph_samples import DIM, axis, full_chunk, make_chunk, make_graph, make_vectors


def test_digests_of_earlier_versions_hash_rows_in_the_order_of_ids() -> None:
    assert sorted_digest({"b": "2", "a": "1"}) == sha256_hex("a:1\nb:2\n")


def test_a_whole_float_hashes_as_its_integer() -> None:
    assert row_sha256({"box": [0, 1.5, 2.0]}) == row_sha256({"box": [0.0, 1.5, 2]})
    assert row_sha256({"box": [0, 1.5]}) != row_sha256({"box": [0, 1.25]})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"])
def test_what_cannot_be_stored_is_refused(value: object) -> None:
    with pytest.raises(SchemaMismatch, match="x: cannot be stored"):
        row_sha256({"id": "x", "value": value})


def test_every_vector_counts_in_its_own_place() -> None:
    chunk, one = make_chunk("a"), axis(2).reshape(1, DIM)
    variants = [
        make_vectors(),
        make_vectors(axis(3)),
        make_vectors(heading=axis(3)),
        make_vectors(anchors=one),
        make_vectors(captions=one),
        make_vectors(anchors=one, captions=one),
    ]
    assert len({chunk_sha256(chunk, vectors) for vectors in variants}) == len(variants)


def test_the_memory_layout_of_a_vector_does_not_count() -> None:
    wide = np.repeat(axis(0), 2)
    assert chunk_sha256(make_chunk("a"), make_vectors(wide[::2])) == chunk_sha256(
        make_chunk("a"), make_vectors()
    )


def test_any_changed_field_changes_the_hash() -> None:
    graph = make_graph()
    assert node_sha256(graph.page) != node_sha256(replace(graph.page, title="x"))
    assert edge_sha256(graph.edges[0]) != edge_sha256(replace(graph.edges[0], count=2))
    moved = replace(full_chunk(), bbox=BBox(10, 20.5, 300, 400.5))
    assert chunk_sha256(moved, make_vectors()) != chunk_sha256(full_chunk(), make_vectors())
