"""A cross-encoder that remembers: the logit of a pair depends on nothing else, and takes milliseconds."""

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from indexes.ports import Reranker


class RememberingReranker:
    """Keeps the port Reranker over another one, with the logits of earlier runs in a file.

    Delete the file after the model has changed.
    """

    def __init__(self, reranker: Reranker, file: Path) -> None:
        self._reranker = reranker
        self._kept = sqlite3.connect(file, check_same_thread=False, timeout=60)
        self._kept.execute("create table if not exists logits (pair text primary key, logit real)")

    def score_pairs(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return a logit per text."""
        keys = [_key(query, text) for text in texts]
        known = {key: logit for key in keys if (logit := self._read(key)) is not None}
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        logits = self._reranker.score_pairs(query, list(new.values())) if new else ()
        found = dict(zip(new, logits, strict=True))
        with self._kept:
            self._kept.executemany("insert or replace into logits values (?, ?)", found.items())
        return tuple({**known, **found}[key] for key in keys)

    def _read(self, key: str) -> float | None:
        row = self._kept.execute("select logit from logits where pair = ?", (key,)).fetchone()
        return float(row[0]) if row else None


def _key(query: str, text: str) -> str:
    return hashlib.sha256(f"{query}\x00{text}".encode()).hexdigest()
