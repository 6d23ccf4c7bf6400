"""Which chunks may be near to some new ones, by short forms of all vectors, so that few vectors are read."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ingest.link.chunk_columns import ChunkColumns, Hashes
from ingest.link.nearest import Corpus, Floats, Ints, all_others, lowest_cosine, slack_of
from ingest.link.vectors import Vectors, read_at

MOST_LOOKED_UP = 1 / 8
"""Beyond this share of the chunks, to read all vectors in their order takes less than to look some up."""


class Codes(Protocol):
    """Short forms of the vectors of texts, by the hash of the text; any may be lost."""

    def clear(self) -> None:
        """Drop them all."""

    def add(self, texts: Hashes, vectors: Floats) -> None:
        """Keep those of unit vectors, shape (n, dim)."""

    def near(self, vectors: Floats, cosine: float) -> tuple[Hashes, Hashes]:
        """Return the texts that have a code, ascending, some twice, and those among them that may be near.

        Near is what comes to *cosine* with one of some unit vectors, shape (n, dim): none of it is left out.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class CodedVectors:
    """Codes, and what reads the vectors of chunks by id, some at a time: distinct ids, and shape (n, dim)."""

    codes: Codes
    look_up: Callable[[Sequence[str]], Iterator[tuple[Sequence[str], Floats]]]

    def at(self, chunks: ChunkColumns, places: Ints) -> Vectors:
        """Those of the chunks at some places."""
        return lambda: self.look_up([id_.decode() for id_ in chunks.ids[places].tolist()])


def near_to(
    new: Corpus, coded: CodedVectors, vectors: Vectors, chunks: ChunkColumns, places: Ints, *, least: int
) -> Iterator[Corpus]:
    """Read those of the chunks at all other places that may be near to a *new* one.

    Those that have no code are read too, and get one.

    Args: least: the lowest score of what is near, in ten-thousandths.
    """
    if not len(new.places):
        return iter(())
    bound = float(lowest_cosine(np.array(least), slack_of(new.vectors)))
    known, near = coded.codes.near(new.vectors, bound)
    texts = np.sort(chunks.texts)
    lacking = texts[~_are_among(texts, known)]
    may_be_near = np.isin(chunks.texts, np.concatenate([lacking, near]))
    may_be_near[places] = False
    at = np.flatnonzero(may_be_near)
    if len(at) <= MOST_LOOKED_UP * len(may_be_near):
        parts = read_at(coded.at(chunks, at), chunks, at)
    else:
        parts = read_at(vectors, chunks, all_others(len(may_be_near), places))
    return _coding(parts, chunks, lacking, coded.codes)


def _are_among(texts: Hashes, known: Hashes) -> npt.NDArray[np.bool_]:
    """Which of *texts* are *known*, which ascend: `np.isin` would sort those each time."""
    if not len(known):
        return np.zeros(len(texts), bool)
    at = np.minimum(np.searchsorted(known, texts), len(known) - 1)
    found: npt.NDArray[np.bool_] = known[at] == texts
    return found


def _coding(parts: Iterator[Corpus], chunks: ChunkColumns, lacking: Hashes, codes: Codes) -> Iterator[Corpus]:
    for part in parts:
        texts = chunks.texts[part.places]
        new = _are_among(texts, lacking)
        if new.any():
            codes.add(texts[new], part.vectors[new])
        yield part
