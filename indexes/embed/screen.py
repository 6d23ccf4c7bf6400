"""Pairs of vectors that may be near, by a product of 8-bit integers: a quarter of the time of float32.

A vector a is its quantised form plus a remainder r_a, so |a·b - â·b̂| <= |r_a||b| + |â||r_b|: with the
greatest remainder of a block no pair is missed (Cauchy and Schwarz). Needs onnx, onnxruntime and numpy.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from indexes.ports import Vector

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
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
