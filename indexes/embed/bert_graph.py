"""Write a BERT-type encoder in the form that readers load, from its own files alone: no torch needed.

The operators are those that ran fastest, one text at a time: docs/decisions/0003-onnx-encoder.md.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from indexes.embed.manifest import GRAPH_FILE, WEIGHTS_FILE
from indexes.embed.named_models import Pooling
from indexes.embed.onnx_session import INPUTS, OUTPUT, TOKENS
from indexes.embed.weights import ModelSpec, read_json, sound_files

_USUAL = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
    "is_decoder": False,
}
"""What `config.json` says of an encoder that is written here, or leaves unsaid."""

_POOLINGS = {
    **{"mean": Pooling.MEAN, "pooling_mode_mean_tokens": Pooling.MEAN},
    **{"cls": Pooling.CLS, "pooling_mode_cls_token": Pooling.CLS},
}
_WORDS, _PLACES, _TYPES = (f"embeddings.{kind}_embeddings" for kind in ("word", "position", "token_type"))
_FIRST_NORM = "embeddings.LayerNorm"
_PARTS = tuple(f"attention.self.{part}" for part in ("query", "key", "value"))
_STEPS = tuple(f"{at}.{kind}" for at in ("attention.output", "output") for kind in ("dense", "LayerNorm"))
_UNUSED = {"pooler.dense.weight", "pooler.dense.bias"}

Numbers = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bert:
    """An encoder that can be written here; `weights` are mapped from their file."""

    weights: Mapping[str, Numbers]
    layers: int
    heads: int
    epsilon: float
    pooling: Pooling


def read_bert(model: Path) -> Bert | None:
    """Describe the model in a folder; None where it is of another type, or does more than pool its tokens.

    Raises: ConfigError: its files are damaged.
    """
    with sound_files(model):
        return _read_bert(model)


def _read_bert(model: Path) -> Bert | None:
    config, pooling = read_json(model / "config.json"), _pooling(model)
    if pooling is None or any(config.get(key, usual) != usual for key, usual in _USUAL.items()):
        return None
    layers, weights = int(config["num_hidden_layers"]), _read_weights(model / "model.safetensors")
    if weights.keys() - _UNUSED != _names(layers):
        return None
    heads, epsilon = int(config["num_attention_heads"]), float(config.get("layer_norm_eps", 1e-12))
    if weights[f"{_WORDS}.weight"].shape[1] % heads:
        raise ValueError(f"{heads} attention heads do not divide the width of the vectors")
    return Bert(weights=weights, layers=layers, heads=heads, epsilon=epsilon, pooling=pooling)


def _pooling(model: Path) -> Pooling | None:
    """How the model pools; None where it does otherwise than by mean or CLS, or something before or after.

    Source: sentence-transformers, `Pooling`: `pooling_mode`, which earlier versions wrote as flags.
    """
    listed = model / "modules.json"
    modules = json.loads(listed.read_text()) if listed.is_file() else []
    kinds = [module["type"].rpartition(".")[2] for module in modules]
    said = read_json(model / modules[1]["path"] / "config.json") if len(modules) > 1 else {}
    flags = [key for key, on in said.items() if key.startswith("pooling_mode_") and on]
    modes = [str(said["pooling_mode"])] if "pooling_mode" in said else flags or ["mean"]
    known = kinds in ([], ["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])
    lowers = read_json(model / "sentence_bert_config.json").get("do_lower_case", False)
    plain = known and not lowers and said.get("include_prompt", True) and len(modes) == 1
    return _POOLINGS.get(modes[0]) if plain else None


def _names(layers: int) -> set[str]:
    of_layer = (*_PARTS, "intermediate.dense", *_STEPS)
    modules = [f"encoder.layer.{layer}.{name}" for layer in range(layers) for name in of_layer]
    tables = {f"{table}.weight" for table in (_WORDS, _PLACES, _TYPES)}
    return tables | {f"{name}.{kind}" for name in (_FIRST_NORM, *modules) for kind in ("weight", "bias")}


def _read_weights(path: Path) -> Mapping[str, Numbers]:
    """Map the tensors of fp32 in a file; a model in other numbers so lacks some, and torch counts in those.

    Source: https://github.com/huggingface/safetensors#format.
    """
    raw = np.memmap(path, np.uint8, "r")
    start = 8 + int.from_bytes(raw[:8].tobytes(), "little")
    found = {}
    for name, told in json.loads(raw[8:start].tobytes()).items():
        if told.get("dtype") == "F32":
            first, last = told["data_offsets"]
            numbers = raw[start + first : start + last].view("<f4").reshape(told["shape"])
            found[name.removeprefix("bert.")] = numbers
    return found


def write_bert(bert: Bert, spec: ModelSpec, folder: Path) -> None:
    """Write graph and weights of *spec* into *folder*."""
    import onnx

    with (folder / WEIGHTS_FILE).open("wb") as file:
        graph = _Graph(onnx, bert, file)
        tokens = graph.embed()
        for layer in range(bert.layers):
            tokens = graph.layer(f"encoder.layer.{layer}", tokens)
        graph.pool(tokens)
    shapes: dict[str, list[str | int]] = {OUTPUT: ["batch", spec.dim]}
    if spec.token_vectors:
        graph.node("Identity", tokens, gives=TOKENS)
        shapes[TOKENS] = ["batch", "length", spec.dim]
    (folder / GRAPH_FILE).write_bytes(graph.model(shapes).SerializeToString())


class _Graph:
    """Nodes in their order, and their constants, whose numbers go to *file*, which readers map."""

    def __init__(self, onnx: Any, bert: Bert, file: BinaryIO) -> None:
        self._onnx = onnx
        self._bert = bert
        self._file = file
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._mask = self.node("Cast", INPUTS[1], to=onnx.TensorProto.INT32)
        for number in (0, 1):
            whole = onnx.numpy_helper.from_array(np.array([number], np.int64), str(number))
            self._constants.append(whole)

    def node(self, kind: str, *inputs: str, gives: str = "", domain: str = "", **attributes: Any) -> str:
        """Add a node, and name what it gives."""
        gives = gives or f"{kind}_{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, [gives], domain=domain, **attributes))
        return gives

    def embed(self) -> str:
        """Add up what words and places give; a text alone is of the first type."""
        places, types = (self._bert.weights[f"{table}.weight"] for table in (_PLACES, _TYPES))
        length = self.node("Shape", INPUTS[0], start=1, end=2)
        used = self.node("Slice", self._put("places", places + types[0]), "0", length, "0")
        words = self.node("Gather", self._of(_WORDS), INPUTS[0])
        return self._norm(self.node("Add", words, used), _FIRST_NORM)

    def layer(self, name: str, tokens: str) -> str:
        """Add a layer: attention, then two dense steps."""
        weights, heads = self._bert.weights, self._bert.heads
        joined = (
            self._put(
                f"{name}.{kind}", np.concatenate([weights[f"{name}.{part}.{kind}"] for part in _PARTS]).T
            )
            for kind in ("weight", "bias")
        )
        found = self.node("Attention", tokens, *joined, self._mask, domain="com.microsoft", num_heads=heads)
        tokens = self._step(found, tokens, f"{name}.attention.output")
        found = self.node("Gelu", self._dense(tokens, f"{name}.intermediate"))
        return self._step(found, tokens, f"{name}.output")

    def pool(self, tokens: str) -> None:
        """Make one unit vector of the tokens' vectors: of the first, or of the sum that the mask leaves."""
        if self._bert.pooling is Pooling.CLS:
            found = self.node("Gather", tokens, "0", axis=1)
        else:
            mask = self.node("Cast", INPUTS[1], to=self._onnx.TensorProto.FLOAT)
            found = self.node("MatMul", self.node("Unsqueeze", mask, "1"), tokens)
        self.node("LpNormalization", self.node("Squeeze", found, "1"), gives=OUTPUT, axis=1, p=2)

    def model(self, shapes: Mapping[str, list[str | int]]) -> Any:
        """Return the whole model, which gives vectors of these shapes."""
        helper, kinds = self._onnx.helper, self._onnx.TensorProto
        inputs = [helper.make_tensor_value_info(name, kinds.INT64, ["batch", "length"]) for name in INPUTS]
        outputs = [helper.make_tensor_value_info(name, kinds.FLOAT, shape) for name, shape in shapes.items()]
        graph = helper.make_graph(self._nodes, "encoder", inputs, outputs, self._constants)
        versions = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=versions, ir_version=10)

    def _step(self, found: str, before: str, name: str) -> str:
        # Not the runtime's fused operator for these three, which takes a tenth longer.
        return self._norm(self.node("Add", self._dense(found, name), before), f"{name}.LayerNorm")

    def _dense(self, tokens: str, name: str) -> str:
        weight = self._put(f"{name}.weight", self._bert.weights[f"{name}.dense.weight"].T)
        return self.node("Add", self.node("MatMul", tokens, weight), self._of(f"{name}.dense", "bias"))

    def _norm(self, tokens: str, name: str) -> str:
        scale, bias = self._of(name), self._of(name, "bias")
        return self.node("LayerNormalization", tokens, scale, bias, epsilon=self._bert.epsilon)

    def _of(self, module: str, kind: str = "weight") -> str:
        return self._put(f"{module}.{kind}", self._bert.weights[f"{module}.{kind}"])

    def _put(self, name: str, numbers: Numbers) -> str:
        self._file.write(bytes(-self._file.tell() % 64))
        kinds = self._onnx.TensorProto
        tensor = kinds(name=name, data_type=kinds.FLOAT, dims=numbers.shape, data_location=kinds.EXTERNAL)
        where = {"location": WEIGHTS_FILE, "offset": self._file.tell(), "length": numbers.nbytes}
        for key, value in where.items():
            tensor.external_data.add(key=key, value=str(value))
        self._file.write(np.ascontiguousarray(numbers, "<f4").data)
        self._constants.append(tensor)
        return name
