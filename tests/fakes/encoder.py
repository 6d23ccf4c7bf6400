"""A small real encoder that needs no model: signed hashing of words.

Texts that share words lie close, texts that share none lie near right angles; nothing more is promised.
"""

import hashlib
import re
from collections.abc import Collection

import numpy as np

from indexes.embed.pooling import pool_tokens
from indexes.embed.routes import RouteCheck
from indexes.ports import Encoded, Vector

_WORD = re.compile(r"\w+")


class HashEncoder:
    """Keeps the port TokenEncoder: each word adds +1 or -1 at a place given by its hash, then length 1.

    `encoded` counts the documents encoded so far, so that a test can see what a run cost.
    """

    route_check: RouteCheck | None = None

    def __init__(self, dim: int = 32) -> None:
        self._dim = dim
        self.encoded = 0

    @property
    def dim(self) -> int:
        return self._dim

    @property
    def model_sha256(self) -> str:
        return hashlib.sha256(f"hash-encoder-{self._dim}".encode()).hexdigest()

    def encode_query(self, text: str) -> Vector:
        return self._vector(text)

    def encode_documents(self, texts: Collection[str]) -> Vector:
        self.encoded += len(texts)
        vectors = [self._vector(text) for text in texts]
        return np.stack(vectors) if vectors else np.zeros((0, self._dim), np.float32)

    def encode_query_tokens(self, text: str) -> Vector:
        return np.stack([self._vector(word) for word in _WORD.findall(text) or [""]])

    def encode_with_tokens(self, texts: Collection[str]) -> Encoded:
        tokens = tuple(pool_tokens(self.encode_query_tokens(text)) for text in texts)
        return Encoded(self.encode_documents(texts), tokens)

    def count_tokens(self, text: str) -> int:
        return len(_WORD.findall(text))

    def _vector(self, text: str) -> Vector:
        vector = np.zeros(self._dim, np.float32)
        for word in _WORD.findall(text.lower()):
            digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
            vector[int.from_bytes(digest[:4], "little") % self._dim] += 1.0 if digest[4] % 2 else -1.0
        if not vector.any():  # no words, or words that cancel out: any fixed direction will do
            vector[0] = 1.0
        return vector / np.float32(np.linalg.norm(vector))
