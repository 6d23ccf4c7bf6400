"""Chunks, nodes and edges to Arrow rows and back; the way back gives what was written."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, repeat
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from indexes.digests import chunk_sha256, edge_sha256, node_sha256
from indexes.ports import ChunkVectors, TokenVectors, Vector, no_tokens
from indexes.stores.lance.stems import stems_of
from indexes.stores.lance.tables import (
    CHUNK_FIELDS,
    DERIVED_FIELDS,
    EDGE_SCHEMA,
    NODE_SCHEMA,
    STEMS,
    TOKENS,
    chunk_schema,
)
from schemas.edges import Edge, EdgeKind
from schemas.errors import SchemaMismatch
from schemas.ids import canonical_json
from schemas.nodes import Chunk, Node
from schemas.records import (
    Record,
    fields_from_record,
    from_record,
    node_from_record,
    node_to_record,
    to_record,
)

ChunkRow = tuple[Chunk, ChunkVectors]


def searchable(chunk: Chunk, *, stems: bool) -> dict[str, str]:
    """Columns derived from a chunk for full text search; with *stems* prose has those of its language."""
    heading, anchors = " > ".join(chunk.heading_path), " \n ".join(chunk.anchor_texts)
    prose = {"heading": heading, "anchors": anchors}
    if stems:
        prose = {name: stems_of(text, chunk.lang) for name, text in {**prose, STEMS: chunk.text}.items()}
    return {**prose, "codes_text": " ".join(chunk.codes)}


def chunks_to_batch(rows: Sequence[ChunkRow], dim: int, optional: frozenset[str]) -> pa.RecordBatch:
    """Turn chunks with checked vectors into a batch of exactly `chunk_schema(dim, optional)`."""
    schema = chunk_schema(dim, optional)
    vectors = [item for _, item in rows]
    columns = {
        "text_vector": _singles([item.text for item in vectors], dim),
        "heading_vector": _singles([item.heading for item in vectors], dim),
        "anchor_vectors": _lists([item.anchors for item in vectors], dim),
        "caption_vectors": _lists([item.captions for item in vectors], dim),
        TOKENS: _lists([item.tokens for item in vectors], dim, np.float16),
        "row_sha256": pa.array([chunk_sha256(*row) for row in rows], pa.string()),
    }
    stems = STEMS in optional
    records = [{**to_record(chunk), **searchable(chunk, stems=stems)} for chunk, _ in rows]
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
    """Read vectors by chunk id; a missing one has shape (0,), missing several (0, dim).

    Those of tokens are read where *found* has their column.
    """
    none: Iterable[TokenVectors] = repeat(no_tokens(), found.num_rows)
    tokens = tokens_of(found, dim).values() if TOKENS in found.column_names else none
    columns = (
        found.column("id").to_pylist(),
        _read_singles(found.column("text_vector"), dim),
        _read_singles(found.column("heading_vector"), dim),
        _read_lists(found.column("anchor_vectors"), dim),
        _read_lists(found.column("caption_vectors"), dim),
        tokens,
    )
    return {
        key: ChunkVectors(text=text, heading=heading, anchors=anchors, captions=captions, tokens=several)
        for key, text, heading, anchors, captions, several in zip(*columns, strict=True)
    }


def tokens_of(found: pa.Table, dim: int) -> dict[str, TokenVectors]:
    """Read token vectors by chunk id."""
    several = _read_lists(found.column(TOKENS), dim, np.float16)
    return dict(zip(found.column("id").to_pylist(), several, strict=True))


def damaged_in(found: pa.Table, dim: int) -> list[str]:
    """Ids of whole rows that no longer match their hash, or whose derived columns have left their origin."""
    vectors = vectors_of(found, dim)
    stems = [STEMS] if STEMS in found.column_names else []
    plain = found.select([*CHUNK_FIELDS, *DERIVED_FIELDS, *stems, "row_sha256"]).to_pylist()
    return [row["id"] for row in plain if _is_damaged(row, vectors[row["id"]])]


def _is_damaged(row: Record, vectors: ChunkVectors) -> bool:
    try:
        chunk = chunk_from_row(row)
        intact = chunk_sha256(chunk, vectors) == row["row_sha256"]
    except (TypeError, ValueError, SchemaMismatch):  # no longer even a chunk
        return True
    return not intact or any(
        row[name] != text for name, text in searchable(chunk, stems=STEMS in row).items()
    )


def _singles(vectors: Sequence[Vector], dim: int) -> pa.Array:
    matrix = np.zeros((len(vectors), dim), dtype=np.float32)
    absent = np.array([vector.size == 0 for vector in vectors], dtype=bool)
    for number, vector in enumerate(vectors):
        if vector.size:
            matrix[number] = vector
    return pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), dim, mask=pa.array(absent))


def _lists(matrices: Sequence[npt.NDArray[Any]], dim: int, dtype: npt.DTypeLike = np.float32) -> pa.Array:
    counts = [matrix.size // dim for matrix in matrices]
    flat = np.concatenate([np.zeros(0, dtype=dtype), *(matrix.ravel() for matrix in matrices)])
    values = pa.FixedSizeListArray.from_arrays(pa.array(flat), dim)
    return pa.ListArray.from_arrays(pa.array([0, *accumulate(counts)], pa.int32()), values)


def _read_singles(column: pa.ChunkedArray, dim: int) -> list[Vector]:
    array = column.combine_chunks()
    present = iter(vectors_in(array, dim))
    empty = np.zeros(0, dtype=np.float32)
    return [next(present) if valid else empty for valid in array.is_valid().to_pylist()]


def _read_lists(
    column: pa.ChunkedArray, dim: int, dtype: npt.DTypeLike = np.float32
) -> list[npt.NDArray[Any]]:
    array = column.combine_chunks()
    counts = [count or 0 for count in array.value_lengths().to_pylist()]
    ends = list(accumulate(counts))
    matrix = _matrix(array.flatten().flatten(), dim, dtype)
    return [matrix[end - count : end] for end, count in zip(ends, counts, strict=True)]


def vectors_in(array: pa.Array, dim: int) -> Vector:
    """Return the vectors of a column, those that are there, in a row each."""
    return _matrix(array.flatten(), dim)


def _matrix(floats: pa.Array, dim: int, dtype: npt.DTypeLike = np.float32) -> npt.NDArray[Any]:
    return np.asarray(floats.to_numpy(zero_copy_only=False), dtype=dtype).reshape(-1, dim)


_HASH, _PROPS = "row_sha256", "props"
PROPS_KEPT = 5_000
_KINDS = {kind.value: kind for kind in EdgeKind}


def nodes_to_batch(nodes: Sequence[Node]) -> pa.RecordBatch:
    """Turn nodes into a batch of NODE_SCHEMA."""
    return _batch([(node_to_record(node), node_sha256(node)) for node in nodes], NODE_SCHEMA)


def edges_to_batch(edges: Sequence[Edge]) -> pa.RecordBatch:
    """Turn edges into a batch of EDGE_SCHEMA."""
    return _batch([(to_record(edge), edge_sha256(edge)) for edge in edges], EDGE_SCHEMA)


def node_from_row(row: Record) -> Node:
    """Build the node that a row of `nodes` contains."""
    return node_from_record(_record(row))


def edge_from_row(row: Record) -> Edge:
    """Build the edge that a row of `edges` contains."""
    return from_record(Edge, _record(row))


def edges_from_columns(columns: Mapping[str, Sequence[Any]]) -> Iterator[Edge]:
    """Build the edges of whole columns of `edges`, without the hash."""
    plain = [name for name in columns if name not in ("kind", _PROPS)]
    values = zip(*(columns[name] for name in plain), strict=True)
    for kind, props, row in zip(columns["kind"], columns[_PROPS], values, strict=True):
        yield Edge(kind=_KINDS[kind], **dict(zip(plain, row, strict=True)), **_typed(props))


def is_damaged_node(row: Record) -> bool:
    """Whether a row of `nodes` no longer matches its hash."""
    return _differs(row, lambda: node_sha256(node_from_row(row)))


def is_damaged_edge(row: Record) -> bool:
    """Whether a row of `edges` no longer matches its hash."""
    return _differs(row, lambda: edge_sha256(edge_from_row(row)))


def _differs(row: Record, sha256: Callable[[], str]) -> bool:
    try:
        return sha256() != str(row[_HASH])
    except (TypeError, ValueError, LookupError, SchemaMismatch):  # no longer even a node, or an edge
        return True


def _batch(hashed: Sequence[tuple[Record, str]], schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([_row(record, sha, schema) for record, sha in hashed], schema=schema)


def _row(record: Record, sha: str, schema: pa.Schema) -> Record:
    props = {key: value for key, value in record.items() if key not in schema.names}
    columns: Record = {key: value for key, value in record.items() if key in schema.names}
    return {**columns, _PROPS: canonical_json(props), _HASH: sha}


def _record(row: Record) -> Record:
    columns: dict[str, Any] = {key: value for key, value in row.items() if key not in (_PROPS, _HASH)}
    return {**columns, **json.loads(row[_PROPS])}


@lru_cache(maxsize=PROPS_KEPT)
def _typed(props: str) -> Mapping[str, Any]:
    """Read the `props` of an edge; thousands have the same."""
    return MappingProxyType(fields_from_record(Edge, json.loads(props)))
