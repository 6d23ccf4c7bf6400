"""Hashes by which two stores, or a store and a plan, are compared. The same in every backend."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from indexes.ports import ChunkVectors
from schemas.edges import Edge
from schemas.errors import SchemaMismatch
from schemas.hashing import canonical_json, sha256_hex
from schemas.nodes import Chunk, Node
from schemas.records import Record, node_to_record, to_record


def row_sha256(record: Record, *blobs: bytes) -> str:
    """Hash a public record, and bytes that belong to it.

    Whole floats count as integers: a store with typed columns gives 1.0 back for 1.
    Raises: SchemaMismatch: the record contains NaN, infinity, or half of a surrogate pair.
    """
    try:
        head = canonical_json(_whole(record)).encode()
    except ValueError as error:
        raise SchemaMismatch(f"cannot be stored: {error}", subject=str(record.get("id", ""))) from error
    return sha256_hex(b"\x00".join((head, *(sha256_hex(blob).encode() for blob in blobs))))


def sorted_digest(hashes: Mapping[str, str]) -> str:
    """Return sha256 over the sorted lines `id:row_sha256`: the digest of a table up to version 0.2."""
    return sha256_hex("".join(f"{key}:{hashes[key]}\n" for key in sorted(hashes)).encode())


def chunk_sha256(chunk: Chunk, vectors: ChunkVectors) -> str:
    """Hash a chunk with its vectors, as little-endian float32, and those of tokens, if any, as float16."""
    parts = (vectors.text, vectors.heading, vectors.anchors, vectors.captions)
    blobs = [np.ascontiguousarray(part, dtype="<f4").tobytes() for part in parts]
    if vectors.tokens.size:
        blobs.append(np.ascontiguousarray(vectors.tokens, dtype="<f2").tobytes())
    return row_sha256(to_record(chunk), *blobs)


def node_sha256(node: Node) -> str:
    """Hash a node's record."""
    return row_sha256(node_to_record(node))


def edge_sha256(edge: Edge) -> str:
    """Hash an edge's record."""
    return row_sha256(to_record(edge))


def _whole(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    return value
