"""Vectors by text where processes share no disk: files of Arrow, each put once, beside the raw bytes."""

import hashlib
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from indexes.embed.cache import check_tokens, check_vectors, require_all
from indexes.ports import RawStore, TokenVectors, Vector
from schemas.errors import DamageFound

SEGMENTS_HELD = 8
"""Files kept in memory once read: 1.5 KB a text, and a file has the few hundred texts of one `put`."""

_SEGMENT = b"segment"


class SharedVectorCache:
    """Keeps the port VectorCache in two stores of bytes by hash, in folders or in object storage.

    A `put` adds a file of vectors, then a small file that lists its keys and names it. Files are never
    changed, so writers of any number of processes lose nothing of each other's; texts that two of them encode
    at once are kept twice, and either serves. A file that is damaged counts as missing: what it held is
    encoded again. Asking lists the files where a text is not known yet: one request for 1,000 of them.

    Args: keys, vectors: where the files of keys and of vectors are. model_key: names everything that decides
    a vector (weights.model_key). token_dim: numbers of a token vector where those are kept, 0 where not.
    """

    def __init__(self, keys: RawStore, vectors: RawStore, *, model_key: str, token_dim: int = 0) -> None:
        self._keys, self._vectors = keys, vectors
        self._model_key = model_key.encode()
        self._token_dim = token_dim
        self._lock = threading.RLock()
        self._read: set[str] = set()
        self._segments: dict[bytes, list[str]] = {}
        self._load: Callable[[str], Mapping[bytes, Any]] = lru_cache(SEGMENTS_HELD)(self._load_segment)

    def missing(self, texts: Iterable[str]) -> tuple[str, ...]:
        distinct = set(texts)
        return tuple(sorted(distinct - self._rows(distinct).keys()))

    def put(self, texts: Collection[str], vectors: Vector, tokens: Sequence[TokenVectors] = ()) -> None:
        check_vectors(texts, vectors)
        check_tokens(texts, tokens, dim=self._token_dim)
        if not texts:
            return
        keys = [self._key(text) for text in texts]
        lacking: list[bytes | None] = [None] * len(keys)
        blobs = [several.astype("<f2").tobytes() for several in tokens] or lacking
        columns = {
            "key": pa.array(keys, pa.binary(32)),
            "vector": pa.array([vector.astype("<f4").tobytes() for vector in vectors], pa.binary()),
            "tokens": pa.array(blobs, pa.binary()),
        }
        segment = self._vectors.put(_packed(pa.table(columns)))
        named = pa.table({"key": columns["key"]}).replace_schema_metadata({_SEGMENT: segment.encode()})
        listed = self._keys.put(_packed(named))
        with self._lock:
            self._take(listed, keys, segment)

    def get(self, texts: Collection[str]) -> Mapping[str, Vector]:
        found = {
            text: np.frombuffer(row[0], "<f4").astype(np.float32) for text, row in self._rows(texts).items()
        }
        require_all(texts, found)
        return found

    def tokens(self, texts: Collection[str]) -> Mapping[str, TokenVectors]:
        rows = self._rows(texts) if self._token_dim else {}
        found = {
            text: np.frombuffer(row[1], "<f2").reshape(-1, self._token_dim) for text, row in rows.items()
        }
        require_all(texts, found)
        return found

    def close(self) -> None:
        """Let go of what was read."""
        with self._lock:
            self._read, self._segments = set(), {}

    def _rows(self, texts: Iterable[str]) -> dict[str, Any]:
        """What is kept of each text, by text; those without anything are left out."""
        by_key = {self._key(text): text for text in texts}
        with self._lock:
            found = self._look_up(by_key)
            if len(found) < len(by_key) and self._refresh():
                found |= self._look_up(by_key.keys() - found.keys())
        return {by_key[key]: row for key, row in found.items()}

    def _look_up(self, keys: Iterable[bytes]) -> dict[bytes, Any]:
        found: dict[bytes, Any] = {}
        # By file, so that each is read once.
        for key in sorted(keys, key=lambda key: self._segments.get(key, [""])[0]):
            for segment in self._segments.get(key, ()):
                row = self._load(segment).get(key)
                if row is not None and (row[1] is not None or not self._token_dim):
                    found.setdefault(key, row)
        return found

    def _refresh(self) -> bool:
        """Read what other processes have put since; whether there was any."""
        new = [sha256 for sha256 in self._keys.hashes() if sha256 not in self._read]
        for listed in new:
            try:
                table = _unpacked(self._keys.get(listed))
            except DamageFound:
                self._read.add(listed)
                continue
            self._take(listed, table["key"].to_pylist(), table.schema.metadata[_SEGMENT].decode())
        return bool(new)

    def _take(self, listed: str, keys: Iterable[bytes], segment: str) -> None:
        self._read.add(listed)
        for key in keys:
            held = self._segments.setdefault(key, [])
            if segment not in held:
                held.append(segment)

    def _load_segment(self, segment: str) -> Mapping[bytes, Any]:
        try:
            table = _unpacked(self._vectors.get(segment))
        except DamageFound:
            return {}
        columns = (table[name].to_pylist() for name in ("key", "vector", "tokens"))
        return {key: (vector, tokens) for key, vector, tokens in zip(*columns, strict=True)}

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(self._model_key + b"\0" + text.encode()).digest()


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def _unpacked(data: bytes) -> pa.Table:
    return pa.ipc.open_file(pa.BufferReader(data)).read_all()
