"""What a store asks of vectors before it keeps them. LanceDB itself takes NaN without a word."""

import numpy as np

from indexes.ports import ChunkVectors, Vector
from schemas.errors import SchemaMismatch

NORM_TOLERANCE = 1e-3
"""How far from 1 a length may be: rounding to float32 or fp16 stays below it, unnormalised vectors do not."""


def check_vectors(chunk_id: str, vectors: ChunkVectors, *, dim: int) -> None:
    """Raise SchemaMismatch unless all vectors are finite, of *dim* and of unit length.

    `heading` may be empty, of shape (0,), where a chunk stands under no heading; `anchors` and `captions`
    may have no rows, nor `tokens` where the index keeps none.
    """
    _check(chunk_id, "text", vectors.text, shape=(dim,))
    if vectors.heading.size:
        _check(chunk_id, "heading", vectors.heading, shape=(dim,))
    for name, several in (("anchors", vectors.anchors), ("captions", vectors.captions)):
        if several.size:
            _check(chunk_id, name, several, shape=(len(several), dim))
    if vectors.tokens.size:
        tokens = vectors.tokens.astype(np.float32)
        _check(chunk_id, "token", tokens, shape=(len(tokens), dim))


def _check(chunk_id: str, name: str, vector: Vector, *, shape: tuple[int, ...]) -> None:
    if vector.shape != shape:
        message = f"{name} vector has shape {vector.shape}, not {shape}; use the index's own encoder"
        raise SchemaMismatch(message, subject=chunk_id)
    # NaN compares as false, so this also refuses what is not finite.
    if not np.all(np.abs(np.linalg.norm(vector, axis=-1) - 1.0) <= NORM_TOLERANCE):
        raise SchemaMismatch(f"{name} vector is not finite or not of unit length", subject=chunk_id)
