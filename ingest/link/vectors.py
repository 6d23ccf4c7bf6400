"""Vectors of passages as they are read, a part at a time, so that memory holds those alone that are new."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ingest.link.nearest import Corpus, Floats, Ints
from ingest.link.passages import ChunkColumns

Vectors = Callable[[], Iterator[tuple[Sequence[str], Floats]]]
"""Begins to read vectors, a part at a time: distinct ids, and shape (n, dim).

Of a passage that comes in several parts the first counts; one that never comes is like no other. What is new
is asked for first, and only then everything else.
"""


def corpus_of(vectors: Vectors, passages: ChunkColumns, places: Ints) -> Corpus:
    """Read the passages at some places, ascending, as far as there are vectors of them, and no further."""
    rows: Floats = np.zeros((len(places), 0), np.float32)
    found = np.zeros(len(places), bool)
    for part in _placed(vectors, passages, places):
        if not found.any():
            rows = np.empty((len(places), part.vectors.shape[1]), np.float32)
        at = np.searchsorted(places, part.places)
        rows[at], found[at] = part.vectors, True
    if not found.all():
        rows, places = rows[found], places[found]
    return Corpus(places=places, vectors=rows, sections=passages.sections[places])


def all_but(vectors: Vectors, passages: ChunkColumns, places: Ints) -> Iterator[Corpus]:
    """Read the passages at all other places, each once, a part at a time."""
    return _placed(vectors, passages, np.setdiff1d(np.arange(len(passages.ids)), places))


def _placed(vectors: Vectors, passages: ChunkColumns, places: Ints) -> Iterator[Corpus]:
    wanted = np.zeros(len(passages.ids), bool)
    wanted[places] = True
    if not len(places):
        return
    for ids, found in vectors():
        at, rows = _among(passages, ids, wanted)
        wanted[at] = False
        if len(at):
            unit = _of_unit_length(found[rows])
            yield Corpus(places=at, vectors=unit, sections=passages.sections[at])
        if not wanted.any():
            return


def _among(passages: ChunkColumns, ids: Sequence[str], wanted: npt.NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Places of those of *ids* that are wanted, ascending, and their numbers."""
    named = np.array([id_.encode() for id_ in ids])
    at = np.minimum(np.searchsorted(passages.ids, named), len(passages.ids) - 1)
    rows = np.flatnonzero((passages.ids[at] == named) & wanted[at])
    rows = rows[np.argsort(at[rows])]
    return at[rows], rows


def _of_unit_length(vectors: Floats) -> Floats:
    """A passage whose vector is zero is like no other."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    np.divide(vectors, lengths, out=vectors, where=lengths > 0)
    return vectors
