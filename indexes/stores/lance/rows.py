"""Chunks with their vectors to Arrow rows and back; the way back gives what was written."""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import pyarrow as pa

from indexes.digests import chunk_sha256
from indexes.ports import ChunkVectors, Vector
from indexes.stores.lance.tables import CHUNK_FIELDS, DERIVED_FIELDS, chunk_schema
from schemas.errors import SchemaMismatch
from schemas.nodes import Chunk
from schemas.records import Record, from_record, to_record

ChunkRow = tuple[Chunk, ChunkVectors]


def searchable(chunk: Chunk) -> dict[str, str]:
    """Columns derived from a chunk for full text search."""
    return {
        "heading": " > ".join(chunk.heading_path),
        "anchors": " \n ".join(chunk.anchor_texts),
        "codes_text": " ".join(chunk.codes),
    }


def chunks_to_batch(rows: Sequence[ChunkRow], dim: int) -> pa.RecordBatch:
    """Turn chunks with checked vectors into a batch of exactly `chunk_schema(dim)`."""
    schema = chunk_schema(dim)
    vectors = [item for _, item in rows]
    columns = {
        "text_vector": _singles([item.text for item in vectors], dim),
        "heading_vector": _singles([item.heading for item in vectors], dim),
        "anchor_vectors": _lists([item.anchors for item in vectors], dim),
        "caption_vectors": _lists([item.captions for item in vectors], dim),
        "row_sha256": pa.array([chunk_sha256(*row) for row in rows], pa.string()),
    }
    records = [{**to_record(chunk), **searchable(chunk)} for chunk, _ in rows]
    arrays = [
        columns[field.name]
        if field.name in columns
        else pa.array([record[field.name] for record in records], field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def chunk_from_row(row: Record) -> Chunk:
    """Build a chunk from a row's plain columns; others are ignored."""
    return from_record(Chunk, {name: row[name] for name in CHUNK_FIELDS})


def vectors_of(found: pa.Table, dim: int) -> dict[str, ChunkVectors]:
    """Read vectors by chunk id; a missing one has shape (0,), missing several (0, dim)."""
    columns = (
        found.column("id").to_pylist(),
        _read_singles(found.column("text_vector"), dim),
        _read_singles(found.column("heading_vector"), dim),
        _read_lists(found.column("anchor_vectors"), dim),
        _read_lists(found.column("caption_vectors"), dim),
    )
    return {
        key: ChunkVectors(text=text, heading=heading, anchors=anchors, captions=captions)
        for key, text, heading, anchors, captions in zip(*columns, strict=True)
    }


def damaged_in(found: pa.Table, dim: int) -> list[str]:
    """Ids of whole rows that no longer match their hash, or whose derived columns have left their origin."""
    vectors = vectors_of(found, dim)
    plain = found.select([*CHUNK_FIELDS, *DERIVED_FIELDS, "row_sha256"]).to_pylist()
    return [row["id"] for row in plain if _is_damaged(row, vectors[row["id"]])]


def _is_damaged(row: Record, vectors: ChunkVectors) -> bool:
    try:
        chunk = chunk_from_row(row)
        intact = chunk_sha256(chunk, vectors) == row["row_sha256"]
    except (TypeError, ValueError, SchemaMismatch):  # no longer even a chunk
        return True
    return not intact or any(row[name] != text for name, text in searchable(chunk).items())


def _singles(vectors: Sequence[Vector], dim: int) -> pa.Array:
    matrix = np.zeros((len(vectors), dim), dtype=np.float32)
    absent = np.array([vector.size == 0 for vector in vectors], dtype=bool)
    for number, vector in enumerate(vectors):
        if vector.size:
            matrix[number] = vector
    return pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), dim, mask=pa.array(absent))


def _lists(matrices: Sequence[Vector], dim: int) -> pa.Array:
    counts = [matrix.size // dim for matrix in matrices]
    flat = np.concatenate([np.zeros(0, dtype=np.float32), *(matrix.ravel() for matrix in matrices)])
    values = pa.FixedSizeListArray.from_arrays(pa.array(flat, pa.float32()), dim)
    return pa.ListArray.from_arrays(pa.array([0, *accumulate(counts)], pa.int32()), values)


def _read_singles(column: pa.ChunkedArray, dim: int) -> list[Vector]:
    array = column.combine_chunks()
    present = iter(vectors_in(array, dim))
    empty = np.zeros(0, dtype=np.float32)
    return [next(present) if valid else empty for valid in array.is_valid().to_pylist()]


def _read_lists(column: pa.ChunkedArray, dim: int) -> list[Vector]:
    array = column.combine_chunks()
    counts = [count or 0 for count in array.value_lengths().to_pylist()]
    ends = list(accumulate(counts))
    matrix = _matrix(array.flatten().flatten(), dim)
    return [matrix[end - count : end] for end, count in zip(ends, counts, strict=True)]


def vectors_in(array: pa.Array, dim: int) -> Vector:
    """Return the vectors of a column, those that are there, in a row each."""
    return _matrix(array.flatten(), dim)


def _matrix(floats: pa.Array, dim: int) -> Vector:
    return np.asarray(floats.to_numpy(zero_copy_only=False), dtype=np.float32).reshape(-1, dim)
