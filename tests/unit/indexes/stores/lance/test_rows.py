"""Chunks as Arrow rows."""

from dataclasses import fields

import numpy as np
import pyarrow as pa

from indexes.stores.lance.rows import chunk_from_row, chunks_to_batch, damaged_in, vectors_of
from indexes.stores.lance.tables import DERIVED_FIELDS, chunk_schema
from schemas.nodes import Chunk
from tests.fakes.graph_samples import DIM, axis, full_chunk, make_chunk, make_vectors

NO_HEADING = make_vectors(heading=np.zeros(0, dtype=np.float32))


def test_every_field_of_a_chunk_has_a_column_that_takes_it() -> None:
    names = set(chunk_schema(DIM).names)
    assert {f.name for f in fields(Chunk)} <= names
    row = chunks_to_batch([(full_chunk(), make_vectors())], DIM, frozenset()).to_pylist()[0]
    empty = [f.name for f in fields(Chunk) if row[f.name] in (None, [], "")]
    assert empty == []


def test_the_way_back_gives_what_was_written() -> None:
    rows = [(full_chunk(), make_vectors()), (make_chunk(""), NO_HEADING), (make_chunk("x"), make_vectors())]
    batch = chunks_to_batch(rows, DIM, frozenset())
    assert [chunk_from_row(row) for row in batch.to_pylist()] == [chunk for chunk, _ in rows]


def test_vectors_keep_their_places_beside_missing_ones() -> None:
    several = make_vectors(axis(3), anchors=np.stack([axis(1), axis(2)]), captions=axis(4).reshape(1, DIM))
    rows = [(make_chunk("a"), NO_HEADING), (make_chunk("b"), several), (make_chunk("c"), NO_HEADING)]
    found = vectors_of(pa.Table.from_batches([chunks_to_batch(rows, DIM, frozenset())]), DIM)
    assert [found[chunk.id].heading.shape for chunk, _ in rows] == [(0,), (DIM,), (0,)]
    assert [found[chunk.id].anchors.shape for chunk, _ in rows] == [(0, DIM), (2, DIM), (0, DIM)]
    assert np.array_equal(found[rows[1][0].id].anchors, several.anchors)
    assert np.array_equal(found[rows[1][0].id].captions, several.captions)


def test_search_columns_join_their_parts() -> None:
    row = chunks_to_batch([(full_chunk(), make_vectors())], DIM, frozenset()).to_pylist()[0]
    assert [row[name] for name in DERIVED_FIELDS] == [
        'Körper > He said "no"',
        "the manual \n see 'there'",
        "GOV-0017 max_wal_size --dry-run",
    ]


def test_a_sound_row_is_not_damaged_and_a_changed_one_is() -> None:
    found = pa.Table.from_batches([chunks_to_batch([(full_chunk(), make_vectors())], DIM, frozenset())])
    assert damaged_in(found, DIM) == []
    for name, value in (
        ("page_no", 3),
        ("codes_text", "x"),
        ("text", "x"),
        ("offsets", None),
        ("row_sha256", "x"),
    ):
        column = found.schema.get_field_index(name)
        broken = found.set_column(column, found.field(name), pa.array([value], found.field(name).type))
        assert damaged_in(broken, DIM) == [full_chunk().id]
