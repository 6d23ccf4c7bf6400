"""Each chunk's nearest chunks by cosine: exact, kept from run to run, and searched for again when lost.

Chunks are numbers: their places among all chunks in id order. A neighbour is one integer whose order is
that of the neighbours: best score first, then lowest id.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Sections = npt.NDArray[np.uint64]

SCALE = 10_000
"""A cosine is kept as its ten-thousandths: the batch in which a text was encoded moves it by up to 2e-7,
so more digits would be noise (docs/graph.md)."""
NONE = np.int64(2**62)
"""No neighbour; behind every neighbour in order."""
BLOCK = 1024
"""Chunks on each side of one product: 4 MB of cosines."""
_PAIRS = 8192
_PLACE_BITS = 31
_FEW = 4096
"""So many pairs of two blocks are cheaper to look at one by one than by another product."""


class Screen(Protocol):
    """Finds, faster than a product, all pairs of two blocks that may be near, and some that are not."""

    def prepare(self, vectors: "Floats") -> Any:
        """Return a block of unit vectors (n, dim) as `pairs` takes it."""

    def pairs(self, left: Any, right: Any, cosine: float) -> "Ints":
        """Return `row * len(right) + column`, ascending, of each pair that may come to *cosine*."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Chunks by ascending places: unit vectors (n, dim), and sections; of one section are no neighbours.

    `screened` are the vectors as a screen takes them.
    """

    places: Ints
    vectors: Floats
    sections: Sections

    screened: Any = None

    def blocks(self, screen: Screen | None = None) -> tuple["Corpus", ...]:
        """The same chunks, BLOCK at a time, prepared for *screen*."""
        return tuple(self._part(start, screen) for start in range(0, len(self.places), BLOCK))

    def _part(self, start: int, screen: Screen | None) -> "Corpus":
        part = slice(start, start + BLOCK)
        vectors = self.vectors[part]
        return Corpus(
            places=self.places[part],
            vectors=vectors,
            sections=self.sections[part],
            screened=screen.prepare(vectors) if screen else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestChunks:
    """The neighbours known of each chunk, shape (n, width), ascending, NONE behind the last.

    Below `floors` (n,) every neighbour there is is known; a floor of NONE says that all are.
    """

    known: Ints
    floors: Ints

    @property
    def width(self) -> int:
        """How many are kept of each chunk."""
        return int(self.known.shape[1])

    @property
    def has_some(self) -> npt.NDArray[np.bool_]:
        """Whether a neighbour is known, of each chunk."""
        some: npt.NDArray[np.bool_] = self.known[:, 0] != NONE
        return some


def no_neighbours(chunks: int, *, width: int) -> NearestChunks:
    """Return chunks of which nothing is known because there is nothing."""
    return NearestChunks(
        known=np.full((chunks, width), NONE, np.int64), floors=np.full(chunks, NONE, np.int64)
    )


def pack_neighbours(scores: Ints, places: Ints) -> Ints:
    """Make neighbours of scores in ten-thousandths and places."""
    return ((SCALE - scores) << _PLACE_BITS) | places


def scores_of(neighbours: Ints) -> Ints:
    """Scores of neighbours, in ten-thousandths; below 0 for NONE."""
    return SCALE - (neighbours >> _PLACE_BITS)


def places_of(neighbours: Ints) -> Ints:
    """Places of neighbours."""
    return neighbours & ((1 << _PLACE_BITS) - 1)


def renumber(neighbours: NearestChunks, *, place: Ints, bound: Ints) -> NearestChunks:
    """Renumber: *place* gives each chunk's new place, or -1 where it goes; order must stay.

    *bound*, one longer, gives how many chunks will stand before each place, and at its end how many there
    will be. Of those to which no place leads, nothing is known. Costs what is known, not what could be.
    """
    found = no_neighbours(int(bound[-1]), width=neighbours.width)
    stays = place >= 0
    rows = np.flatnonzero(stays & neighbours.has_some)
    known = neighbours.known[rows]
    there, at = known != NONE, places_of(known)
    to = place[at]
    kept = np.where(there & (to >= 0), known + (to - at), NONE)
    lost = (there & (to < 0)).any(axis=1)
    kept[lost] = np.sort(kept[lost], axis=1)
    found.known[place[rows]] = kept
    open_ = np.flatnonzero(stays & (neighbours.floors != NONE))
    floors = neighbours.floors[open_]
    found.floors[place[open_]] = pack_neighbours(scores_of(floors), bound[places_of(floors)])
    return found


def join(
    neighbours: NearestChunks,
    fresh: Corpus,
    others: Iterable[Corpus],
    *,
    least: int,
    screen: Screen | None = None,
) -> None:
    """Bring *fresh* chunks in, of which nothing is known: they get neighbours, and become those of others.

    *others* are read once, a part at a time, so that memory has the fresh ones alone. *least* is the
    lowest score of a neighbour, in ten-thousandths. A *screen* changes what it costs, and nothing else.
    """
    blocks = fresh.blocks(screen)
    for left, right in _pairs(blocks, others, screen):
        _meet(neighbours, left, right, least, screen)
    for number, left in enumerate(blocks):
        for right in blocks[number:]:
            _meet(neighbours, left, right, least, screen)


def all_others(count: int, places: Ints) -> Ints:
    """All places below *count* but these, ascending."""
    others = np.ones(count, bool)
    others[places] = False
    return np.flatnonzero(others)


def run_out(neighbours: NearestChunks, *, wanted: int) -> Ints:
    """Return the places that have lost so many neighbours that others may be nearer than what is left."""
    return np.flatnonzero((neighbours.known[:, wanted - 1] == NONE) & (neighbours.floors != NONE))


def search_again(
    neighbours: NearestChunks,
    lost: Corpus,
    everyone: Iterable[Corpus],
    *,
    least: int,
    screen: Screen | None = None,
) -> None:
    """Find the neighbours of the *lost* among all chunks, whatever was known of them."""
    neighbours.known[lost.places], neighbours.floors[lost.places] = NONE, NONE
    for left, right in _pairs(lost.blocks(screen), everyone, screen):
        _meet(neighbours, left, right, least, screen, both=False)


def _pairs(
    blocks: tuple[Corpus, ...], others: Iterable[Corpus], screen: Screen | None
) -> Iterator[tuple[Corpus, Corpus]]:
    return ((left, right) for part in others for right in part.blocks(screen) for left in blocks)


def _meet(
    neighbours: NearestChunks,
    left: Corpus,
    right: Corpus,
    least: int,
    screen: Screen | None,
    *,
    both: bool = True,
) -> None:
    """Compare two blocks and give each chunk of the left one, or of both, what is near in the other."""
    both = both and left is not right
    rows, columns = _candidates(neighbours, left, right, least, screen, both=both)
    scores = _exact(left.vectors, right.vectors, rows, columns)
    close = scores >= least
    rows, columns, scores = rows[close], columns[close], scores[close]
    _give(neighbours, left.places, rows, pack_neighbours(scores, right.places[columns]))
    if both:
        _give(neighbours, right.places, columns, pack_neighbours(scores, left.places[rows]))


def _candidates(
    neighbours: NearestChunks, left: Corpus, right: Corpus, least: int, screen: Screen | None, *, both: bool
) -> tuple[Ints, Ints]:
    """Pairs of the two blocks, by number in each, that may come below a floor; few others are among them."""
    slack = slack_of(left.vectors)
    of_left = _bounds(neighbours, left.places, right.places, least, slack)
    of_right = np.full(len(right.places), np.float32(np.inf))
    if both:
        of_right = _bounds(neighbours, right.places, left.places, least, slack)
    # One bound for all first: a block has a million cosines, and few of them pass.
    bound = min(of_left.min(), of_right.min())
    flat = screen.pairs(left.screened, right.screened, bound) if screen else None
    if flat is not None and len(flat) <= _FEW:
        rows, columns = np.divmod(flat, len(right.places))
    else:
        cosines = (left.vectors @ right.vectors.T).ravel()
        flat = np.flatnonzero(cosines >= bound)
        rows, columns = np.divmod(flat, len(right.places))
        near = (cosines[flat] >= of_left[rows]) | (cosines[flat] >= of_right[columns])
        rows, columns = rows[near], columns[near]
    apart = left.sections[rows] != right.sections[columns]
    return rows[apart], columns[apart]


def slack_of(vectors: Floats) -> float:
    """More than a product of float32 is off by, by another amount in another block."""
    return int(vectors.shape[1]) * float(np.finfo(np.float32).eps)


def lowest_cosine(scores: Ints, slack: float) -> Floats:
    """The lowest cosines, as a product gives them, of pairs that may come to *scores*."""
    return ((scores - 0.5) / SCALE - slack).astype(np.float32)


def _bounds(neighbours: NearestChunks, places: Ints, others: Ints, least: int, slack: float) -> Floats:
    """The lowest cosine that any of *others* may have to come below each chunk's floor."""
    floors = neighbours.floors[places]
    # At the floor's own score a place before it is needed, which no other has.
    needed = scores_of(floors) + (others[0] >= places_of(floors))
    return lowest_cosine(np.where(floors == NONE, least, np.maximum(needed, least)), slack)


def _exact(left: Floats, right: Floats, rows: Ints, columns: Ints) -> Ints:
    """Cosines of pairs in ten-thousandths, of a precision that no block changes."""
    scores = np.empty(len(rows), np.int64)
    for start in range(0, len(rows), _PAIRS):
        part = slice(start, start + _PAIRS)
        products = left[rows[part]].astype(np.float64) * right[columns[part]]
        scores[part] = np.rint(products.sum(axis=1) * SCALE)
    return np.minimum(scores, SCALE)


def _give(neighbours: NearestChunks, places: Ints, rows: Ints, found: Ints) -> None:
    """Add what was *found* for `places[rows]`; the width's worth stays, and where more was known, a floor."""
    new = found < neighbours.floors[places[rows]]
    touched, rows = np.unique(rows[new], return_inverse=True)
    if not len(touched):
        return
    at, width = places[touched], neighbours.width
    held = neighbours.known[at]
    have = held != NONE
    row = np.concatenate([np.repeat(np.arange(len(at)), have.sum(axis=1)), rows])
    every = np.concatenate([held[have], found[new]])
    order = np.lexsort((every, row))
    row, every = row[order], every[order]
    rank = np.arange(len(row)) - np.searchsorted(row, row)
    kept = rank < width
    table = np.full((len(at), width), NONE, np.int64)
    table[row[kept], rank[kept]] = every[kept]
    neighbours.known[at] = table
    full = at[row[rank == width]]
    neighbours.floors[full] = neighbours.known[full, -1] + 1
