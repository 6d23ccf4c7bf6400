"""An ONNX file as a function from token ids to unit vectors. Needs onnxruntime and numpy only."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from indexes.embed.manifest import GRAPH_FILE, damaged
from indexes.ports import Vector

INPUTS = ("input_ids", "attention_mask")
OUTPUT = "unit_vector"


def open_session(folder: Path, *, threads: int) -> Any:
    """Open the exported graph in *folder*: 13 ms where a plain one takes 100.

    Raises: DamageFound: the graph or its weights cannot be read.
    """
    import onnxruntime

    try:
        return onnxruntime.InferenceSession(
            str(folder / GRAPH_FILE), _options(onnxruntime, threads), providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # each fault of the runtime is a class of its own, right under Exception
        raise damaged(folder / GRAPH_FILE, f"the encoder cannot be loaded ({error})") from error


def run_session(session: Any, token_ids: Sequence[Sequence[int]]) -> Vector:
    """Encode one batch of token ids; shape (len(token_ids), dim)."""
    width = max(len(ids) for ids in token_ids)
    inputs = np.zeros((len(token_ids), width), np.int64)
    mask = np.zeros_like(inputs)
    for row, ids in enumerate(token_ids):
        inputs[row, : len(ids)] = ids
        mask[row, : len(ids)] = 1
    vectors: Vector = session.run([OUTPUT], dict(zip(INPUTS, (inputs, mask), strict=True)))[0]
    return vectors


def _options(onnxruntime: Any, threads: int) -> Any:
    options = onnxruntime.SessionOptions()
    # The file was optimised when it was written.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    # Repacking would read and copy all weights, also the half that is the word table, of which a
    # question touches ten rows; unpacked they stay mapped from the file.
    options.add_session_config_entry("session.disable_prepacking", "1")
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return options
