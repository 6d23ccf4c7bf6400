"""The encoder of the race: a model, or vectors by hash, which leave everything but encoding to be seen.

Counts its texts in a file that survives a SIGKILL. Imported by every contestant in its own environment, so
it needs nothing but numpy and, for a model, onnxruntime and tokenizers.
"""

import os
from collections.abc import Collection, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from bench.peers.contestant import Order

DIM = 384
BATCH = 32
MAX_TOKENS = 256


class Encoder:
    """Turns texts into unit vectors, and writes down how many before it does."""

    def __init__(self, order: Order) -> None:
        self._file = os.open(order.counts, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._vectors = Model(order.model).vectors if order.model else hashed

    def encode(self, texts: Collection[str]) -> Any:
        """Return float32 of shape (len(texts), DIM); the same text always has the same vector."""
        if not texts:
            return np.zeros((0, DIM), np.float32)
        os.write(self._file, f"{len(texts)}\n".encode())
        return self._vectors(list(texts))


class Model:
    """The graph and the tokenizer that an index has in its folder `encoder`."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        self._graph = onnxruntime.InferenceSession(
            str(folder / "encoder.onnx"), providers=["CPUExecutionProvider"]
        )
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.enable_padding()

    def vectors(self, texts: Sequence[str]) -> Any:
        """Encode texts of like length together, so that little is padded."""
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        found = np.empty((len(texts), DIM), np.float32)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            found[batch] = self._encode([texts[number] for number in batch])
        return found

    def _encode(self, texts: Sequence[str]) -> Any:
        tokens = self._tokenizer.encode_batch(texts)
        inputs = {
            "input_ids": np.array([text.ids for text in tokens]),
            "attention_mask": np.array([text.attention_mask for text in tokens]),
        }
        return self._graph.run(["unit_vector"], inputs)[0]


def hashed(texts: Sequence[str]) -> Any:
    """Return vectors that say nothing of the texts."""
    return np.stack([_drawn(text) for text in texts])


def read_counts(counts: Path) -> int:
    """Return how many texts have been encoded."""
    return sum(map(int, counts.read_text().split())) if counts.exists() else 0


def _drawn(text: str) -> Any:
    seed = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
    drawn = np.random.default_rng(seed).standard_normal(DIM, np.float32)
    return drawn / np.linalg.norm(drawn)
