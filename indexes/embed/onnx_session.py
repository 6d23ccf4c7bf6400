"""An ONNX file as a function from token ids to unit vectors. Needs onnxruntime and numpy only."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from indexes.embed.manifest import GRAPH_FILE, WEIGHTS_FILE, damaged
from indexes.ports import Vector
from schemas.errors import ConfigError

INPUTS = ("input_ids", "attention_mask")
OUTPUT, TOKENS = "unit_vector", "token_vectors"
"""What a graph gives; the second only where it was exported for late interaction."""


def open_session(folder: Path, *, threads: int, repack: bool = False) -> Any:
    """Open the exported graph in *folder*: 13 ms where a plain one takes 100.

    Args: repack: copy the weights into the layout that multiplies fastest, for who encodes much.
    Raises: DamageFound: the graph or its weights cannot be read.
    """
    import onnxruntime

    try:
        return onnxruntime.InferenceSession(
            str(folder / GRAPH_FILE),
            _options(onnxruntime, threads, repack=repack),
            providers=["CPUExecutionProvider"],
        )
    except Exception as error:  # each fault of the runtime is a class of its own, right under Exception
        raise damaged(folder / GRAPH_FILE, f"the encoder cannot be loaded ({error})") from error


def plain_session(model: str | bytes) -> Any:
    """Open a graph, of a file or as bytes, as the runtime would, but in one thread and without remarks."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def optimise_graph(plain: Path, folder: Path) -> None:
    """Fuse the graph once, here, and keep the weights in a file that readers map instead of reading."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # Not ALL: its layouts are of this chip, and an index may be read on another.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(folder / GRAPH_FILE)
    prefix = "session.optimized_model_external_initializers"
    options.add_session_config_entry(f"{prefix}_file_name", WEIGHTS_FILE)
    options.add_session_config_entry(f"{prefix}_min_size_in_bytes", "1024")
    options.log_severity_level = 3
    onnxruntime.InferenceSession(str(plain), options, providers=["CPUExecutionProvider"])


def run_session(session: Any, token_ids: Sequence[Sequence[int]]) -> Vector:
    """Encode one batch of token ids; shape (len(token_ids), dim)."""
    vectors: Vector = session.run([OUTPUT], _inputs(token_ids))[0]
    return vectors


def run_with_tokens(session: Any, token_ids: Sequence[Sequence[int]]) -> tuple[Vector, list[Vector]]:
    """Encode one batch; return its vectors, and of each text those of its tokens, (len(ids), dim).

    Raises: ConfigError: the graph was exported without token vectors.
    """
    if TOKENS not in {given.name for given in session.get_outputs()}:
        raise ConfigError("the exported encoder gives no token vectors", subject=GRAPH_FILE)
    vectors, tokens = session.run([OUTPUT, TOKENS], _inputs(token_ids))
    return vectors, [rows[: len(ids)] for rows, ids in zip(tokens, token_ids, strict=True)]


def _inputs(token_ids: Sequence[Sequence[int]]) -> dict[str, Any]:
    width = max(len(ids) for ids in token_ids)
    inputs = np.zeros((len(token_ids), width), np.int64)
    mask = np.zeros_like(inputs)
    for row, ids in enumerate(token_ids):
        inputs[row, : len(ids)] = ids
        mask[row, : len(ids)] = 1
    return dict(zip(INPUTS, (inputs, mask), strict=True))


def _options(onnxruntime: Any, threads: int, *, repack: bool) -> Any:
    options = onnxruntime.SessionOptions()
    # The file was optimised when it was written.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    # Repacking would read and copy all weights, also the half that is the word table, of which a
    # question touches ten rows; unpacked they stay mapped from the file.
    options.add_session_config_entry("session.disable_prepacking", "0" if repack else "1")
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return options
