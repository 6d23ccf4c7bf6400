"""Citations that readers followed: one line of JSON each, appended beside the index, never in it."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from retrieval.log import log_folder

CLICK_FILE = "clicks.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clicks:
    """How often a citation of each document was followed, and how many lines of the file are no clicks."""

    by_document: Mapping[str, int]
    unreadable: int = 0


def log_click(index: Path, *, doc: str, chunk_id: str, query: str, generation: int, timestamp: str) -> None:
    """Append one followed citation; one write, so that lines of several processes do not mix.

    Raises: OSError: the log cannot be written; showing the source need not fail over that.
    """
    folder = log_folder(index)
    folder.mkdir(parents=True, exist_ok=True)
    entry = {
        "timestamp": timestamp,
        "generation": generation,
        "query": query,
        "chunk_id": chunk_id,
        "doc": doc,
    }
    with (folder / CLICK_FILE).open("a", encoding="utf-8") as log:
        log.write(json.dumps(entry, ensure_ascii=False) + "\n")


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
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    doc = entry.get("doc") if isinstance(entry, dict) else None
    return doc if isinstance(doc, str) else None
