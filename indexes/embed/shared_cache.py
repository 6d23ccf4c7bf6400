"""Vectors by text where processes share no disk: files of Arrow, each put once, beside the raw bytes."""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa

from indexes.embed.cache import TextVectors
from indexes.ports import RawStore
from schemas.errors import DamageFound

SEGMENTS_HELD = 8
"""Files kept in memory once read: 1.5 KB a text, and a file has the few hundred texts of one `put`."""

_SEGMENT = b"segment"


class SharedVectorCache(TextVectors):
    """Keeps the port VectorCache in two stores of bytes by hash, in folders or in object storage.

    A `put` adds a file of vectors, then a small file that lists its keys and names it. Files are never
    changed, so writers of any number of processes lose nothing of each other's; texts that two of them encode
    at once are kept twice, and either serves. A file that is damaged counts as missing: what it held is
    encoded again. Asking lists the files where a text is not known yet: one request for 1,000 of them.

    Args: keys, vectors: where the files of keys and of vectors are.
    """

    def __init__(self, keys: RawStore, vectors: RawStore, *, model_key: str, token_dim: int = 0) -> None:
        super().__init__(model_key=model_key, token_dim=token_dim)
        self._keys, self._vectors = keys, vectors
        self._lock = threading.RLock()
        self._read: set[str] = set()
        self._segments: dict[bytes, list[str]] = {}
        self._load: Callable[[str], Mapping[bytes, Any]] = lru_cache(SEGMENTS_HELD)(self._load_segment)

    def _keep(self, keys: Sequence[bytes], vectors: Sequence[bytes], tokens: Sequence[bytes]) -> None:
        lacking: list[bytes | None] = [None] * len(keys)
        columns = {
            "key": pa.array(keys, pa.binary(32)),
            "vector": pa.array(vectors, pa.binary()),
            "tokens": pa.array(tokens or lacking, pa.binary()),
        }
        segment = self._vectors.put(_packed(pa.table(columns)))
        named = pa.table({"key": columns["key"]}).replace_schema_metadata({_SEGMENT: segment.encode()})
        listed = self._keys.put(_packed(named))
        with self._lock:
            self._take(listed, keys, segment)

    def close(self) -> None:
        """Let go of what was read."""
        with self._lock:
            self._read, self._segments = set(), {}

    def _blobs(self, keys: Collection[bytes], *, tokens: bool = False) -> list[tuple[bytes, bytes]]:
        with self._lock:
            found = self._look_up(keys)
            if len(found) < len(keys) and self._refresh():
                found |= self._look_up(set(keys) - found.keys())
        return [(key, row[1] if tokens else row[0]) for key, row in found.items()]

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


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def _unpacked(data: bytes) -> pa.Table:
    return pa.ipc.open_file(pa.BufferReader(data)).read_all()
