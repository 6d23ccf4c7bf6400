"""Vectors as 8-bit integers, which tell at a quarter of the price which pairs cannot be near."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from indexes.embed.onnx_session import plain_session
from indexes.ports import Vector
from schemas.errors import StoreUnavailable, telling_no_room

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.int8]

_OPSET, _IR_VERSION = 17, 8
_MIDDLE = 128
"""What is added to the left factor, which the fastest instructions want unsigned."""
_RANGES = (127, 63)
"""Chips without VNNI add two products in 16 bits, which 7 bits of one factor fit into and 8 do not."""


_FLOAT32 = 1e-4
"""More than what scales and remainders are off by, in float32."""
_INT32 = (-(2**31), 2**31 - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantised:
    """Unit vectors as `values * scale`, shape (n, dim); `error` is the length of the longest remainder."""

    values: Bytes
    scale: float
    error: float


@dataclass(frozen=True, slots=True)
class QuantisedScreen:
    """Implements the port Screen of `ingest.link.nearest`.

    Args: greatest: the greatest value of a component. quantise, multiply: sessions of onnxruntime.
    """

    greatest: int
    quantise: Any
    multiply: Any

    def prepare(self, vectors: Vector) -> Quantised:
        """Quantise a block of unit vectors, by one scale for all."""
        scale = max(float(np.abs(vectors).max(initial=0.0)), 1e-6) / self.greatest
        values, error = self.quantise.run(None, {"vectors": vectors, "scale": np.array(scale, np.float32)})
        return Quantised(values=values, scale=scale, error=float(error) ** 0.5)

    def pairs(self, left: Quantised, right: Quantised, cosine: float) -> Ints:
        """Return `row * len(right) + column`, ascending, of each pair that may come to *cosine*."""
        slack = left.error + (1 + left.error) * right.error + _FLOAT32
        least = np.floor((cosine - slack) / (left.scale * right.scale))
        return np.flatnonzero(self.at_least(left.values, right.values, int(np.clip(least, *_INT32))))

    def at_least(self, left: Bytes, right: Bytes, least: int) -> npt.NDArray[np.bool_]:
        """Return whether each product of (n, dim) and (m, dim) is *least* or more, shape (n, m)."""
        unsigned = left.view(np.uint8) ^ np.uint8(_MIDDLE)
        found: npt.NDArray[np.bool_] = self.multiply.run(
            None, {"left": unsigned, "right": right, "least": np.array(least, np.int32)}
        )[0]
        return found


def open_screen() -> QuantisedScreen | None:
    """Return a screen of as many bits as this chip multiplies exactly; None where it is exact with none."""
    quantise, multiply = _open(_quantising()), _open(_multiplying())
    screens = (QuantisedScreen(greatest, quantise, multiply) for greatest in _RANGES)
    return next((screen for screen in screens if is_exact(screen)), None)


def is_exact(screen: QuantisedScreen) -> bool:
    """Whether the greatest products that there may be are added up without saturation."""
    greatest, dim = screen.greatest, 64
    left = np.full((8, dim), greatest, np.int8)
    right = np.concatenate([np.full((8, dim), value, np.int8) for value in (greatest, -greatest)])
    exact = left.astype(np.int64) @ right.T.astype(np.int64)
    return all(
        np.array_equal(screen.at_least(left, right, int(bound)), exact >= bound)
        for bound in (exact.max(), exact.max() + 1, exact.min(), exact.min() + 1)
    )


def _quantising() -> Any:
    """Vectors (n, dim) and a scale, to their quantised values and the greatest square of a remainder."""
    from onnx import TensorProto, helper

    nodes = [
        helper.make_node("QuantizeLinear", ["vectors", "scale", "zero"], ["values"]),
        helper.make_node("DequantizeLinear", ["values", "scale", "zero"], ["rounded"]),
        helper.make_node("Sub", ["vectors", "rounded"], ["remainders"]),
        helper.make_node("ReduceSumSquare", ["remainders"], ["squares"], axes=[1], keepdims=0),
        helper.make_node("ReduceMax", ["squares"], ["greatest"], keepdims=0),
    ]
    given = [("vectors", TensorProto.FLOAT, ["n", "dim"]), ("scale", TensorProto.FLOAT, [])]
    results = [("values", TensorProto.INT8, ["n", "dim"]), ("greatest", TensorProto.FLOAT, [])]
    return _model(nodes, given, results, helper.make_tensor("zero", TensorProto.INT8, [], [0]))


def _multiplying() -> Any:
    """Two blocks (n, dim) and (m, dim), to whether each product is *least* or more, (n, m)."""
    from onnx import TensorProto, helper

    nodes = [
        helper.make_node("Transpose", ["right"], ["columns"], perm=[1, 0]),
        helper.make_node("MatMulInteger", ["left", "columns", "middle"], ["products"]),
        helper.make_node("GreaterOrEqual", ["products", "least"], ["found"]),
    ]
    given = [
        ("left", TensorProto.UINT8, ["n", "dim"]),
        ("right", TensorProto.INT8, ["m", "dim"]),
        ("least", TensorProto.INT32, []),
    ]
    results = [("found", TensorProto.BOOL, ["n", "m"])]
    return _model(nodes, given, results, helper.make_tensor("middle", TensorProto.UINT8, [], [_MIDDLE]))


def _model(nodes: Any, given: Any, results: Any, constant: Any) -> Any:
    from onnx import helper

    inputs, outputs = ([helper.make_tensor_value_info(*one) for one in part] for part in (given, results))
    graph = helper.make_graph(nodes, "screen", inputs, outputs, [constant])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION)


def _open(model: Any) -> Any:
    """Open a graph for one thread: more of them wait for each other longer than they work on a block."""
    return plain_session(model.SerializeToString())


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
    """Implements the port Codes of `ingest.link.similarity` in a file of records, for vectors of one model.

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
