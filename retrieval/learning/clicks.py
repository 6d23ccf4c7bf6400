"""Citations that readers followed: one line of JSON each, appended beside the index, never in it."""

import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retrieval.learning.query_log import LOG_FILE, append_lines, log_folder
from schemas.redaction import one_line

CLICK_FILE = "clicks.jsonl"
_LOOKED_BACK = 2**20
"""Bytes at the end of the usage log in which the question of a followed citation is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clicks:
    """How often a citation of each document was followed, and how many lines of the file are no clicks."""

    by_document: Mapping[str, int]
    unreadable: int = 0


def log_click(index: Path, *, doc: str, chunk_id: str, query: str, generation: int, timestamp: str) -> None:
    """Append one followed citation, without the secrets of the question it answered.

    Raises: OSError: the log cannot be written; showing the source need not fail over that.
    """
    entry = {
        "timestamp": timestamp,
        "generation": generation,
        "query": one_line(query),
        "chunk_id": chunk_id,
        "doc": doc,
    }
    append_lines(index, CLICK_FILE, [entry])


def answered_query(index: Path, chunk_id: str) -> str | None:
    """Return the question that last brought a chunk, by the end of the usage log; None where none did.

    Raises: OSError: the log cannot be read.
    """
    try:
        with (log_folder(index) / LOG_FILE).open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _LOOKED_BACK))
            lines = log.read().decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return None
    return next((query for line in reversed(lines) if (query := _query_of(line, chunk_id))), None)


def _query_of(line: str, chunk_id: str) -> str | None:
    entry = _entry(line) if chunk_id in line else {}
    winners, query = entry.get("winners"), entry.get("query")
    return query if isinstance(query, str) and isinstance(winners, list) and chunk_id in winners else None


def count_clicks(index: Path) -> Clicks:
    """Count all clicks that were ever logged, by the node id of the document."""
    counts: Counter[str] = Counter()
    unreadable = 0
    try:
        with (log_folder(index) / CLICK_FILE).open(encoding="utf-8", errors="replace") as log:
            for line in log:
                doc = _document_of(line)
                counts.update([doc] if doc else [])
                unreadable += doc is None
    except FileNotFoundError:
        return Clicks(by_document={})
    return Clicks(by_document=dict(sorted(counts.items())), unreadable=unreadable)


def _document_of(line: str) -> str | None:
    doc = _entry(line).get("doc")
    return doc if isinstance(doc, str) else None


def _entry(line: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}
