"""Vectors of chunks as they are read, a part at a time, so that memory has those alone that are new."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ingest.link.chunk_columns import ChunkColumns
from ingest.link.nearest import Corpus, Floats, Ints, all_others

Vectors = Callable[[], Iterator[tuple[Sequence[str], Floats]]]
"""Begins to read vectors, a part at a time: distinct ids, and shape (n, dim).

Of a chunk that comes in several parts the first counts; one that never comes is like no other. What is new
is asked for first, and only then everything else.
"""


def corpus_of(vectors: Vectors, chunks: ChunkColumns, places: Ints) -> Corpus:
    """Read the chunks at some places, ascending, as far as there are vectors of them, and no further."""
    rows: Floats = np.zeros((len(places), 0), np.float32)
    found = np.zeros(len(places), bool)
    for part in read_at(vectors, chunks, places):
        if not found.any():
            rows = np.empty((len(places), part.vectors.shape[1]), np.float32)
        at = np.searchsorted(places, part.places)
        rows[at], found[at] = part.vectors, True
    if not found.all():
        rows, places = rows[found], places[found]
    return Corpus(places=places, vectors=rows, sections=chunks.sections[places])


def all_but(vectors: Vectors, chunks: ChunkColumns, places: Ints) -> Iterator[Corpus]:
    """Read the chunks at all other places, each once, a part at a time."""
    return read_at(vectors, chunks, all_others(len(chunks.ids), places))


def read_at(vectors: Vectors, chunks: ChunkColumns, places: Ints) -> Iterator[Corpus]:
    """Read the chunks at some places, each once, a part at a time."""
    wanted = np.zeros(len(chunks.ids), bool)
    wanted[places] = True
    if not len(places):
        return
    for ids, found in vectors():
        at, rows = _among(chunks, ids, wanted)
        wanted[at] = False
        if len(at):
            unit = _of_unit_length(found[rows])
            yield Corpus(places=at, vectors=unit, sections=chunks.sections[at])
        if not wanted.any():
            return


def _among(chunks: ChunkColumns, ids: Sequence[str], wanted: npt.NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Places of those of *ids* that are wanted, ascending, and their numbers."""
    named = np.array([id_.encode() for id_ in ids])
    at = np.minimum(np.searchsorted(chunks.ids, named), len(chunks.ids) - 1)
    rows = np.flatnonzero((chunks.ids[at] == named) & wanted[at])
    rows = rows[np.argsort(at[rows])]
    return at[rows], rows


def _of_unit_length(vectors: Floats) -> Floats:
    """A chunk whose vector is zero is like no other."""
    lengths: Floats = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    np.divide(vectors, lengths, out=vectors, where=lengths > 0)
    return vectors
