"""A hash of a set of rows that follows a change: rows that come are added, rows that go are subtracted."""

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import shake_128

import numpy as np
import numpy.typing as npt

from schemas.batches import batched

LANES = 1024
_BYTES = 2 * LANES
_LANE = np.dtype("<u2")
_AT_ONCE = 128
"""Rows expanded before they are summed: 256 KB, which stays in the cache of a core."""

Lanes = npt.NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class LatticeHash:
    """LtHash: the sum, modulo 2^16 in each of 1,024 lanes, of every row expanded to as many numbers.

    The order of rows does not count, and what is added and subtracted again leaves nothing. To find two sets
    of rows with one sum is as hard as short integer solutions in a lattice, over 200 bits at this size. A row
    that is added 65,536 times is lost again, so rows are told apart by ids, and counted beside the sum.
    Expanded by SHAKE128, which Python has, where the paper takes BLAKE2Xb: both stand for a random oracle.

    Source: Bellare and Micciancio, "A new paradigm for collision-free hashing", 1997; Lewi, Kim, Maykov and
    Weis, "Securing Update Propagation with Homomorphic Hashing", 2019 (eprint 2019/227): their lthash16.
    """

    lanes: bytes = bytes(_BYTES)

    def __post_init__(self) -> None:
        """Check the size."""
        if len(self.lanes) != _BYTES:
            raise ValueError(f"{len(self.lanes)} bytes of lanes instead of {_BYTES}")

    def plus(self, rows: Iterable[tuple[str, str]]) -> "LatticeHash":
        """Return the hash with more rows, pairs of an id and the sha256 of a row."""
        return LatticeHash((self._summed + _sum(rows)).tobytes())

    def minus(self, rows: Iterable[tuple[str, str]]) -> "LatticeHash":
        """Return the hash without some of its rows."""
        return LatticeHash((self._summed - _sum(rows)).tobytes())

    def to_text(self) -> str:
        """Return the lanes in base64, for a manifest."""
        return base64.b64encode(self.lanes).decode()

    @classmethod
    def from_text(cls, text: str) -> "LatticeHash":
        """Read what `to_text` gave.

        Raises: ValueError: it is nothing that this gives.
        """
        return cls(base64.b64decode(text, validate=True))

    @property
    def _summed(self) -> Lanes:
        return np.frombuffer(self.lanes, _LANE)


def _sum(rows: Iterable[tuple[str, str]]) -> Lanes:
    total = np.zeros(LANES, _LANE)
    for expanded in _expanded(rows):
        total += np.frombuffer(expanded, _LANE).reshape(-1, LANES).sum(axis=0, dtype=_LANE)
    return total


def _expanded(rows: Iterable[tuple[str, str]]) -> Iterator[bytes]:
    for some in batched(rows, _AT_ONCE):
        yield b"".join([shake_128(f"{id_}:{sha256}".encode()).digest(_BYTES) for id_, sha256 in some])
