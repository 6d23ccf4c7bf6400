"""Turn a sentence-transformers model into the ONNX files that readers load fastest."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from indexes.embed.encoder import load_sentence_transformer
from indexes.embed.manifest import TOKENIZER_FILE
from indexes.embed.onnx_session import INPUTS, OUTPUT, TOKENS, open_session, optimise_graph, run_session
from indexes.embed.routes import EXPORT_TEXTS
from indexes.embed.tokens import TokenCounter
from indexes.embed.weights import ModelSpec
from schemas.errors import SchemaMismatch

GREATEST_DIFFERENCE = 1e-5
"""Of any component to torch fp32 (docs/decisions/0003-onnx-encoder.md); measured: 3e-7."""


def write_onnx(spec: ModelSpec, folder: Path) -> None:
    """Write graph and weights of *spec* into *folder*, which contains its tokenizer, and check them.

    Raises: SchemaMismatch: the result differs from torch; ConfigError: sentence-transformers is missing.
    """
    # Eager attention: the fused one does not export with a variable length.
    model = load_sentence_transformer(spec, attn_implementation="eager").eval()
    plain = folder / "plain.onnx"
    _export_graph(model, plain, with_tokens=spec.token_vectors)
    optimise_graph(plain, folder)
    plain.unlink()
    _check(model, spec, folder)


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
    with _quiet("torch.onnx"):
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
    difference = float(np.abs(expected - found).max())
    if not difference < GREATEST_DIFFERENCE:
        raise SchemaMismatch(
            f"exported encoder differs from torch by {difference:.1e}, allowed {GREATEST_DIFFERENCE:.0e}; "
            "use another model, or report this with the versions of torch and onnxruntime",
            subject=spec.name,
        )


@contextmanager
def _quiet(logger_name: str) -> Iterator[None]:
    """Keep the exporter's remarks on libraries that are not installed from the terminal."""
    logger = logging.getLogger(logger_name)
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
