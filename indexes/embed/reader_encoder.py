"""The encoder of readers: the model exported beside the index, on onnxruntime and tokenizers alone.

A cold process has its first vector 0.2 s after it asks, 0.1 s of it imports. 0.05 s go to hashing 90 MB of
weights, once a process: one bit that flips in them gives vectors that look sound and find something else.
"""

import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from indexes.embed.manifest import (
    GRAPH_FILE,
    MANIFEST_FILE,
    TOKENIZER_FILE,
    WEIGHTS_FILE,
    damaged,
    load_encoder_manifest,
)
from indexes.embed.onnx_session import open_session, run_session, run_with_tokens
from indexes.embed.pooling import pool_tokens, to_unit
from indexes.embed.tokens import TokenCounter
from indexes.embed.weights import file_sha256, file_sha256_once
from indexes.ports import Encoded, Vector
from schemas.cost import Cause, caused_by

T = TypeVar("T")


class OnnxEncoder:
    """Keeps the port TokenEncoder with an exported model; always fp32; may be shared between threads.

    Opening reads `encoder.json` only; runtime and weights come with the first text, or before it by
    `load_in_background`, and are compared with their hashes then.

    Args: directory: what `export_onnx` wrote. threads: 2 halve the time of a question, more gain little.
    workers: texts that are encoded side by side, each with so many threads; with more than 0 the weights are
    also repacked, which pays where thousands of texts are encoded.
    """

    def __init__(self, directory: Path, *, threads: int = 2, workers: int = 0) -> None:
        """Read what the model is.

        Raises: SchemaMismatch: another format; DamageFound: no encoder there, or unreadable.
        """
        self._directory = directory
        self._threads = threads
        self._workers = workers
        self._manifest = load_encoder_manifest(directory)
        self._lock = threading.Lock()
        self._session: Any = None
        self._tokens: TokenCounter | None = None
        self._asked = lru_cache(16)(self._encode)  # a walk encodes its question twice

    @property
    def dim(self) -> int:
        return self._manifest.dim

    @property
    def model_sha256(self) -> str:
        return self._manifest.model_sha256

    @property
    def unrelated(self) -> float:
        """Cosine of a question and a passage that have nothing to do with each other; 0 where it is small."""
        return self._manifest.unrelated

    @property
    def joins_languages(self) -> bool:
        """Whether a question is near to its answer in another language; False where that was not measured."""
        return bool(self._manifest.joins_languages)

    def load_in_background(self) -> None:
        """Start loading beside whatever the caller does next; a fault shows at the first text."""
        threading.Thread(target=self._load_quietly, name="encoder-load").start()

    def encode_query(self, text: str) -> Vector:
        return self._asked(self._manifest.query_prompt + text)

    def encode_documents(self, texts: Collection[str]) -> Vector:
        """Encode one by one: nothing is padded, and no vector depends on its neighbours."""
        return np.array(self._each(self._encode, texts), np.float32).reshape(-1, self.dim)

    def encode_query_tokens(self, text: str) -> Vector:
        """Vectors of a question's tokens; raises ConfigError where the export gives none."""
        return to_unit(self._encode_all(self._manifest.query_prompt + text)[1])

    def encode_with_tokens(self, texts: Collection[str]) -> Encoded:
        """Encode documents with their token vectors; raises ConfigError where the export gives none."""
        found = self._each(self._encode_all, texts)
        vectors = np.array([vector for vector, _ in found], np.float32).reshape(-1, self.dim)
        return Encoded(vectors, tuple(pool_tokens(tokens) for _, tokens in found))

    def _each(self, encode: Callable[[str], T], texts: Collection[str]) -> Sequence[T]:
        """Call *encode* on each text behind the prompt of documents."""
        prompted = [self._manifest.document_prompt + text for text in texts]
        if self._workers:
            with ThreadPoolExecutor(self._workers) as pool:
                return list(pool.map(partial(_charged, encode), prompted))
        return list(map(encode, prompted))

    def count_tokens(self, text: str) -> int:
        return self._loaded_tokens().count(text)

    def _encode(self, text: str) -> Vector:
        tokens = self._loaded_tokens().encode([text], self._manifest.max_tokens)
        return run_session(self._loaded_session(), tokens).reshape(self.dim)

    def _encode_all(self, text: str) -> tuple[Vector, Vector]:
        """Return the vector of a text, and those of its tokens."""
        tokens = self._loaded_tokens().encode([text], self._manifest.max_tokens)
        vectors, of_tokens = run_with_tokens(self._loaded_session(), tokens)
        return vectors.reshape(self.dim), of_tokens[0]

    def _load_quietly(self) -> None:
        with suppress(Exception):  # also one of the machine, such as too little memory for a library
            self._loaded_session()
            self._loaded_tokens()

    def _loaded_session(self) -> Any:
        with self._lock:
            if self._session is None:
                self._require(GRAPH_FILE, WEIGHTS_FILE)
                self._session = open_session(self._directory, threads=self._threads, repack=self._workers > 0)
            return self._session

    def _loaded_tokens(self) -> TokenCounter:
        with self._lock:
            if self._tokens is None:
                self._require(TOKENIZER_FILE)
                self._tokens = TokenCounter(self._directory / TOKENIZER_FILE)
            return self._tokens

    def _require(self, *names: str) -> None:
        """Compare files with their hashes as they are now: a run may have exported them again meanwhile."""
        manifest = load_encoder_manifest(self._directory)
        if manifest.model_key != self._manifest.model_key:
            raise damaged(self._directory / MANIFEST_FILE, "is of another model by now")
        hashes = manifest.hashes()
        for name in names:
            path = self._directory / name
            try:
                # Twice, or one that was put back with its old time stayed damaged for this process.
                whole = hashes[name] == file_sha256_once(path) or hashes[name] == file_sha256(path)
            except OSError as error:
                raise damaged(path, f"cannot be read ({error.strerror})") from error
            if not whole:
                raise damaged(path, "is damaged: it no longer matches its hash")


def _charged(encode: Callable[[str], T], text: str) -> T:
    with caused_by(Cause.EMBED):  # a thread of the pool knows nothing of what its caller works for
        return encode(text)
