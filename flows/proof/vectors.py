"""Vectors that were encoded again, against those that the store has."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from flows.proof.compare import Deviation
from indexes.embed.texts import text_input
from indexes.ports import ChunkReader, ChunkVectors, TokenVectors, Vector, VectorCache
from ingest.link.nearest import Floats
from schemas.hashing import sha256_hex
from schemas.nodes import Chunk

LEAST = 0.9999
"""Cosine of two encodings of one text: the batch moves it by up to 2e-7 (docs/graph.md), another arithmetic,
such as a GPU's, by up to 3e-5; a flipped bit of an exponent, or the vector of another text, by far more.
"""
_NAMES = ("text", "heading", "anchors", "captions")


class SettledVectors:
    """Keeps the port VectorCache over *fresh*; of a text that the store has, gives the store's vector where
    both are near enough.

    So likeness of passages is decided by the very numbers that decided it before, and a cosine at the edge of
    a rounding makes no difference; vectors themselves are compared by `compare_vectors`.
    """

    def __init__(self, fresh: VectorCache, reader: ChunkReader) -> None:
        self.fresh = fresh
        self._reader = reader

    def missing(self, texts: Iterable[str]) -> tuple[str, ...]:
        return self.fresh.missing(texts)

    def put(self, texts: Collection[str], vectors: Vector, tokens: Sequence[TokenVectors] = ()) -> None:
        self.fresh.put(texts, vectors, tokens)

    def get(self, texts: Collection[str]) -> Mapping[str, Vector]:
        found = dict(self.fresh.get(texts))
        ids = {text: id_ for text in found if (id_ := self._ids.get(sha256_hex(text)))}
        stored = self._reader.vectors(ids.values())
        for text, id_ in ids.items():
            if are_near(stored[id_].text, found[text]):
                found[text] = stored[id_].text
        return found

    def tokens(self, texts: Collection[str]) -> Mapping[str, TokenVectors]:
        return self.fresh.tokens(texts)

    @cached_property
    def _ids(self) -> Mapping[str, str]:
        """A chunk of each text that the store has, by the hash of the text."""
        return {sha256_hex(text_input(chunk)): chunk.id for chunk in self._reader.scan()}


def are_near(held: Vector, derived: Vector) -> bool:
    """Whether two unit vectors of one text say the same; one that is not finite says nothing."""
    if held.shape != derived.shape:
        return False
    return bool(np.isfinite(held).all()) and float(held @ derived) >= LEAST


def compare_vectors(
    chunks: Sequence[Chunk], held: Mapping[str, ChunkVectors], derived: Mapping[str, ChunkVectors]
) -> Iterator[Deviation]:
    """Yield the vectors of chunks that are not what their texts give; of chunks in both alone."""
    for chunk in chunks:
        if chunk.id not in held or chunk.id not in derived:
            continue
        for name in _NAMES:
            what = _fault(getattr(held[chunk.id], name), getattr(derived[chunk.id], name))
            if what:
                yield Deviation(table="vectors", id=chunk.id, what=f"{name}: {what}", doc=chunk.doc)


def _fault(held: Vector, derived: Vector) -> str | None:
    if held.shape != derived.shape:
        return f"shape {held.shape}, its text gives {derived.shape}"
    rows: tuple[Floats, Floats] = (np.atleast_2d(held), np.atleast_2d(derived))
    if not np.isfinite(rows[0]).all():
        return "not finite"
    cosines = (rows[0] * rows[1]).sum(axis=1)
    if len(cosines) and float(cosines.min()) < LEAST:
        return f"cosine {float(cosines.min()):.4f} with what its text gives, {LEAST} at least"
    return None
