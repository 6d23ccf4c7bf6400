"""Parts of runs that outlive them: what one test has started or encoded, the next one has at once.

A parser takes a second of processor time to start, and tests encode the same few pages again and again.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from indexes.embed.manifest import GRAPH_FILE, TOKENIZER_FILE, WEIGHTS_FILE
from indexes.embed.reader_encoder import OnnxEncoder
from indexes.ports import Vector
from runtime.parser_pool import ParserPool

_idle: dict[Path, list[Any]] = {}
_vectors: dict[object, Vector] = {}
_lock = threading.Lock()


class LentParsers(ParserPool):
    """A pool whose idle children are left to the next one of the same tokenizer."""

    def __init__(self, *, workers: int, tokenizer: Path) -> None:
        super().__init__(workers=workers, tokenizer=tokenizer)
        self._lent = _idle.setdefault(tokenizer, [])
        with _lock:
            if child := self._usable(self._lent.pop() if self._lent else None):
                self._children.add(child)
                self._idle.get()
                self._idle.put(child)

    def close(self) -> None:
        """Leave what is idle to the next pool, and kill what is busy."""
        while not self._idle.empty():
            child = self._usable(self._idle.get())
            with _lock, self._lock:
                if child in self._children:
                    self._children.discard(child)
                    self._lent.append(child)
        super().close()


@contextmanager
def remembered_vectors() -> Iterator[None]:
    """Have exported encoders encode no text twice in this process while their files are as they were."""
    encode = OnnxEncoder._encode

    def remember(encoder: OnnxEncoder, text: str) -> Vector:
        paths = [encoder._directory / name for name in (GRAPH_FILE, WEIGHTS_FILE, TOKENIZER_FILE)]
        if not all(path.is_file() for path in paths):
            return encode(encoder, text)
        files = tuple((path.stat().st_ino, path.stat().st_mtime_ns, path.stat().st_size) for path in paths)
        key = (files, encoder._manifest, text)
        if key not in _vectors:
            _vectors[key] = encode(encoder, text)
        return _vectors[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OnnxEncoder, "_encode", remember)
        patch.setattr(OnnxEncoder, "load_in_background", lambda _: None)  # most texts are remembered
        yield


@contextmanager
def lent_parts() -> Iterator[None]:
    """Have runs of this process use the parsers and vectors of those before."""
    import flows.run.resources

    with remembered_vectors(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(flows.run.resources, "ParserPool", LentParsers)
        yield
