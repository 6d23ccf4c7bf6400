"""Vectors of chunks as they are read, a part at a time, so that memory has those alone that are new."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ingest.link.chunk_columns import ChunkColumns
from ingest.link.nearest import Corpus, Floats, Ints, all_others, lowest_cosine, slack_of

Vectors = Callable[[], Iterator[tuple[Sequence[str], Floats]]]
"""Begins to read vectors, a part at a time: distinct ids, and shape (n, dim).

Of a chunk that comes in several parts the first counts; one that never comes is like no other. What is new
is asked for first, and only then everything else.
"""


def corpus_of(vectors: Vectors, chunks: ChunkColumns, places: Ints) -> Corpus:
    """Read the chunks at some places, ascending, as far as there are vectors of them, and no further."""
    rows: Floats = np.zeros((len(places), 0), np.float32)
    found = np.zeros(len(places), bool)
    for part in _placed(vectors, chunks, places):
        if not found.any():
            rows = np.empty((len(places), part.vectors.shape[1]), np.float32)
        at = np.searchsorted(places, part.places)
        rows[at], found[at] = part.vectors, True
    if not found.all():
        rows, places = rows[found], places[found]
    return Corpus(places=places, vectors=rows, sections=chunks.sections[places])


def all_but(vectors: Vectors, chunks: ChunkColumns, places: Ints) -> Iterator[Corpus]:
    """Read the chunks at all other places, each once, a part at a time."""
    return _placed(vectors, chunks, all_others(len(chunks.ids), places))


def near_to(
    new: Corpus, vectors: Vectors, chunks: ChunkColumns, places: Ints, *, least: int
) -> Iterator[Corpus]:
    """Read those of the chunks at all other places that may be near to a *new* one: few ids are looked up.

    Args: least: the lowest score of what is near, in ten-thousandths.
    """
    bound = lowest_cosine(np.array(least), slack_of(new.vectors))

    def near() -> Iterator[tuple[Sequence[str], Floats]]:
        for ids, found in vectors():
            rows = np.flatnonzero((found @ new.vectors.T).max(axis=1) >= bound * _lengths(found))
            if len(rows):
                yield [ids[row] for row in rows.tolist()], found[rows]

    return all_but(near, chunks, places)


def _placed(vectors: Vectors, chunks: ChunkColumns, places: Ints) -> Iterator[Corpus]:
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
    lengths = _lengths(vectors)[:, None]
    np.divide(vectors, lengths, out=vectors, where=lengths > 0)
    return vectors


def _lengths(vectors: Floats) -> Floats:
    lengths: Floats = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return lengths
