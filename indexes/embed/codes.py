"""Vectors as 8-bit codes in a file, which tell of nearly all that they are not near: a quarter of the bytes.

A unit vector u is what its code says, û, plus a remainder r. By Cauchy and Schwarz u·v <= û·v + |r| for any
unit vector v, so what the codes leave out is not near.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from indexes.ports import Vector
from schemas.errors import StoreUnavailable
from schemas.no_room import telling_no_room

Hashes = npt.NDArray[np.uint64]
Records = npt.NDArray[Any]

STEP = np.float32(1 / 254)
"""What a code counts by. A component beyond half a unit is cut, which the remainder contains."""
_AT_ONCE = 1024
"""Records: 1.5 MB of float32, which a processor's cache holds."""
_SLACK = np.float32(0.015)
"""How far the vector of a text may be from that of its code: by another route of the model their cosine is
.9999 (`weights.model_key`), which is .0142, and float32 adds less than .0001."""
_HEAD = np.dtype([("sum", "<u8"), ("text", "<u8"), ("remainder", "<f4")])
"""How a record begins. Its end is filled up to whole words, since NumPy does not copy what it pads."""
_MARK = np.uint64(0x9E3779B97F4A7C15)
"""Part of each sum, so that the zeros that a crash left are no record."""


class CodeFile:
    """Implements the port Codes of `ingest.link.nearby` in a file of records, for vectors of one model.

    Each record has a sum of its own: one that is torn or has rotted is as if it were not there. A text may
    have several. For one process at a time.
    """

    def __init__(self, path: Path, *, dim: int) -> None:
        """Name the file, which need not be there, and the length of its vectors."""
        self._path = path
        rest = -(_HEAD.itemsize + dim) % 8
        self._record = np.dtype([*_HEAD.descr, ("values", "i1", (dim,)), ("rest", "i1", (rest,))])

    def add(self, texts: Hashes, vectors: Vector) -> None:
        """Append the codes of unit vectors, shape (n, dim), by the hashes of their texts.

        Raises: NoRoom: the disk is full; StoreUnavailable: the file cannot be written.
        """
        texts, first = np.unique(texts, return_index=True)
        with self._told():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                if torn := file.tell() % self._record.itemsize:
                    file.truncate(file.tell() - torn)
                for start in range(0, len(texts), _AT_ONCE):
                    part = slice(start, start + _AT_ONCE)
                    file.write(self._encode(texts[part], vectors[first[part]]).tobytes())

    def near(self, vectors: Vector, cosine: float) -> tuple[Hashes, Hashes]:
        """Return the texts that have a code, ascending, and those among them that may be near.

        Near is what comes to *cosine* with one of some unit vectors, shape (n, dim): none of it is left out.

        Raises: StoreUnavailable: the file cannot be read.
        """
        known, near = [np.zeros(0, np.uint64)], [np.zeros(0, np.uint64)]
        for block in self._blocks():
            texts = block["text"].copy()  # a view would hold all of the block
            products = (block["values"].astype(np.float32) @ vectors.T).max(axis=1) * STEP
            known.append(texts)
            near.append(texts[products + block["remainder"] + _SLACK >= cosine])
        return np.sort(np.concatenate(known)), np.concatenate(near)  # sorting takes a tenth of np.unique

    def clear(self) -> None:
        """Drop all codes.

        Raises: StoreUnavailable: the file cannot be deleted.
        """
        with self._told():
            self._path.unlink(missing_ok=True)

    def keep(self, texts: Hashes) -> None:
        """Drop the files of other models, and the codes of other texts where those are half of the file.

        Raises: NoRoom: the disk is full; StoreUnavailable: the file cannot be written.
        """
        with self._told():
            for path in self._path.parent.glob("*"):
                if path.is_file() and path != self._path:
                    path.unlink(missing_ok=True)
            if not len(texts):
                self._path.unlink(missing_ok=True)
            elif self._path.exists() and self._path.stat().st_size > 2 * len(texts) * self._record.itemsize:
                self._rewrite(np.sort(texts))

    def _rewrite(self, wanted: Hashes) -> None:
        """Keep the last code of each *wanted* text: what was added later holds."""
        kept = _last_of_each([block["text"].copy() for block in self._blocks()], wanted)
        new = self._path.with_name(f".{self._path.name}.{os.getpid()}.new")
        try:
            with new.open("wb") as file:
                for block, of_block in zip(self._blocks(), kept, strict=True):
                    file.write(block[of_block].tobytes())
            os.replace(new, self._path)
        finally:
            new.unlink(missing_ok=True)

    def _encode(self, texts: Hashes, vectors: Vector) -> Records:
        records = np.zeros(len(texts), self._record)
        records["text"] = texts
        records["values"] = np.clip(np.rint(vectors / STEP), -127, 127)
        remainders = vectors - records["values"] * STEP
        records["remainder"] = np.sqrt(np.einsum("ij,ij->i", remainders, remainders))
        records["sum"] = _sums(records)
        return records

    def _blocks(self) -> Iterator[Records]:
        """All records that are whole, some at a time."""
        with self._told():
            if not self._path.exists():
                return
            with self._path.open("rb") as file:
                while len(block := np.fromfile(file, self._record, count=_AT_ONCE)):
                    whole = _sums(block) == block["sum"]
                    yield block if whole.all() else block[whole]

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            with telling_no_room(str(self._path)):
                yield
        except OSError as error:
            message = f"cannot be read or written, though it may be deleted at any time: {error}"
            raise StoreUnavailable(message, subject=str(self._path)) from error


def _sums(records: Records) -> Hashes:
    """The sum of each record's words but the first, which is where the sum stands."""
    words = records.view(np.uint64).reshape(len(records), -1)
    sums: Hashes = words[:, 1:].sum(axis=1, dtype=np.uint64) + _MARK
    return sums


def _last_of_each(blocks: Sequence[Hashes], wanted: Hashes) -> Iterator[npt.NDArray[np.bool_]]:
    """Of some blocks of texts, which are the last of their text, and *wanted*, which ascend."""
    texts = np.concatenate(blocks)
    order = np.argsort(texts, kind="stable")
    ends = np.append(texts[order][1:] != texts[order][:-1], True)
    last = np.zeros(len(texts), bool)
    last[order[ends]] = True
    at = np.minimum(np.searchsorted(wanted, texts), len(wanted) - 1)
    last &= wanted[at] == texts
    return iter(np.split(last, np.cumsum([len(block) for block in blocks])[:-1]))
