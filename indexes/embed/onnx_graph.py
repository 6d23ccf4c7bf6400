"""Turn a sentence-transformers model, or one that is only there as ONNX, into what readers load fastest.

Pooling and normalisation are put into the graph, so that readers and builds use all models alike.
"""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from indexes.embed.encoder import load_sentence_transformer
from indexes.embed.manifest import TOKENIZER_FILE
from indexes.embed.named_models import Pooling
from indexes.embed.onnx_session import (
    INPUTS,
    OUTPUT,
    TOKENS,
    open_session,
    optimise_graph,
    plain_session,
    run_session,
)
from indexes.embed.routes import EXPORT_TEXTS
from indexes.embed.tokens import TokenCounter
from indexes.embed.weights import ModelSpec
from indexes.ports import Vector
from schemas.errors import ConfigError, SchemaMismatch

GREATEST_DIFFERENCE = 1e-5
"""Of any component to torch fp32 (docs/decisions/0003-onnx-encoder.md); measured: 3e-7."""
GREATEST_OF_GIVEN = 1e-4
"""Of any component to the graph as given, which is quantised; measured: 2e-7."""

_TOKEN_TYPES, _TOKEN_VECTORS = "token_type_ids", "last_hidden_state"


def write_onnx(spec: ModelSpec, folder: Path) -> None:
    """Write graph and weights of *spec* into *folder*, which contains its tokenizer, and check them.

    Raises: SchemaMismatch: the result differs from torch; ConfigError: sentence-transformers is missing.
    """
    # Eager attention: the fused one does not export with a variable length.
    model = load_sentence_transformer(spec, attn_implementation="eager").eval()
    _optimise(folder, lambda plain: _export_graph(model, plain, with_tokens=spec.token_vectors))
    _check(model, spec, folder)


def write_given_graph(spec: ModelSpec, folder: Path) -> None:
    """Do so for a model whose graph is given: no torch needed.

    Raises: SchemaMismatch: the result differs from the graph as given; ConfigError: it has
    other inputs or outputs than a BERT.
    """
    _optimise(folder, lambda plain: _write_pooled(spec, plain))
    _check_given(spec, folder)


def _optimise(folder: Path, write: Callable[[Path], None]) -> None:
    plain = folder / "plain.onnx"
    write(plain)
    optimise_graph(plain, folder)
    plain.unlink()


def _require_near(difference: float, most: float, told: str, *, subject: str) -> None:
    if not difference < most:
        raise SchemaMismatch(told.format(f"{difference:.1e}, allowed {most:.0e}"), subject=subject)


def _export_graph(model: Any, path: Path, *, with_tokens: bool) -> None:
    """Write transformer, pooling and normalisation as one graph of any batch size and length."""
    import torch

    class UnitVector(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            features = self.model({"input_ids": input_ids, "attention_mask": attention_mask})
            unit = torch.nn.functional.normalize(features["sentence_embedding"], p=2, dim=1)
            return (unit, features["token_embeddings"]) if with_tokens else unit

    ids = torch.ones((2, 8), dtype=torch.int64)
    any_size = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    # In a process of its own: the exporter remarks on libraries that are not installed.
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    torch.onnx.export(
        UnitVector().eval(),
        (ids, torch.ones_like(ids)),
        str(path),
        dynamo=True,
        external_data=False,
        dynamic_shapes=dict.fromkeys(INPUTS, any_size),
        input_names=list(INPUTS),
        output_names=[OUTPUT, TOKENS] if with_tokens else [OUTPUT],
        verbose=False,
    )


def _check(model: Any, spec: ModelSpec, folder: Path) -> None:
    expected = model.encode(
        list(EXPORT_TEXTS), normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
    )
    tokens = TokenCounter(folder / TOKENIZER_FILE).encode(EXPORT_TEXTS, spec.max_tokens)
    found = run_session(open_session(folder, threads=1), tokens)
    told = (
        "exported encoder differs from torch by {}; use another model, or report this with the versions of "
        "torch and onnxruntime"
    )
    _require_near(float(np.abs(expected - found).max()), GREATEST_DIFFERENCE, told, subject=spec.name)


def _write_pooled(spec: ModelSpec, path: Path) -> None:
    import onnx

    model = onnx.load(str(spec.path / spec.graph))
    graph = model.graph
    inputs = {given.name for given in graph.input}
    if not inputs <= {*INPUTS, _TOKEN_TYPES} or _TOKEN_VECTORS not in {given.name for given in graph.output}:
        raise ConfigError("is not the graph of an encoder like BERT", subject=spec.graph)
    before = _zero_token_types(onnx) if _TOKEN_TYPES in inputs else []
    nodes = [*before, *graph.node, *_pool(onnx, graph, spec.pooling or Pooling.MEAN)]
    _put(graph.node, nodes)
    _put(graph.input, [given for given in graph.input if given.name in INPUTS])
    floats = onnx.TensorProto.FLOAT
    given = [onnx.helper.make_tensor_value_info(OUTPUT, floats, ["batch", spec.dim])]
    if spec.token_vectors:
        graph.node.append(onnx.helper.make_node("Identity", [_TOKEN_VECTORS], [TOKENS]))
        given.append(onnx.helper.make_tensor_value_info(TOKENS, floats, ["batch", "length", spec.dim]))
    _put(graph.output, given)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def _put(field: Any, values: list[Any]) -> None:
    del field[:]
    field.extend(values)


def _zero_token_types(onnx: Any) -> list[Any]:
    """A text alone is of one type, which readers so need not state."""
    zero = onnx.helper.make_tensor("zero", onnx.TensorProto.INT64, [1], [0])
    return [
        onnx.helper.make_node("Shape", [INPUTS[0]], ["shape_of_ids"]),
        onnx.helper.make_node("ConstantOfShape", ["shape_of_ids"], [_TOKEN_TYPES], value=zero),
    ]


def _pool(onnx: Any, graph: Any, pooling: Pooling) -> list[Any]:
    node = onnx.helper.make_node
    unit = node("LpNormalization", ["pooled"], [OUTPUT], axis=1, p=2)
    if pooling is Pooling.CLS:
        graph.initializer.append(onnx.numpy_helper.from_array(np.array(0, np.int64), "first_token"))
        return [node("Gather", [_TOKEN_VECTORS, "first_token"], ["pooled"], axis=1), unit]
    # The sum over tokens that the mask leaves; its length does not matter, since it is made a unit vector.
    graph.initializer.append(onnx.numpy_helper.from_array(np.array([1, -1, 1], np.int64), "as_a_row"))
    return [
        node("Cast", [INPUTS[1]], ["mask_of_floats"], to=onnx.TensorProto.FLOAT),
        node("Unsqueeze", ["mask_of_floats"], ["mask_of_tokens"], axes=[1]),
        node("MatMul", ["mask_of_tokens", _TOKEN_VECTORS], ["summed"]),
        node("Squeeze", ["summed"], ["pooled"], axes=[1]),
        unit,
    ]


def _check_given(spec: ModelSpec, folder: Path) -> None:
    tokens = TokenCounter(folder / TOKENIZER_FILE).encode(EXPORT_TEXTS, spec.max_tokens)
    session = open_session(folder, threads=1)
    # One at a time: what is quantised by the batch depends on its neighbours.
    found = np.concatenate([run_session(session, [ids]) for ids in tokens])
    told = (
        "the optimised encoder differs from the given one by {}; use another model, or report this with the "
        "version of onnxruntime"
    )
    difference = float(np.abs(_as_given(spec, tokens) - found).max())
    _require_near(difference, GREATEST_OF_GIVEN, told, subject=spec.name)


def _as_given(spec: ModelSpec, tokens: list[list[int]]) -> Vector:
    """Encode with the file as it was given, pooled here."""
    session = plain_session(str(spec.path / spec.graph))
    inputs = {given.name for given in session.get_inputs()}
    vectors = []
    for ids in tokens:
        row = np.array([ids], np.int64)
        given = {INPUTS[0]: row, INPUTS[1]: np.ones_like(row), _TOKEN_TYPES: np.zeros_like(row)}
        of_tokens = session.run([_TOKEN_VECTORS], {name: given[name] for name in inputs})[0][0]
        vector = of_tokens[0] if spec.pooling is Pooling.CLS else of_tokens.mean(axis=0)
        vectors.append(vector / np.linalg.norm(vector))
    return np.array(vectors, np.float32)
