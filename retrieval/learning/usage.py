"""The logs beside an index, read back: what was asked, what was followed, what was missed."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from indexes.ports import Vector
from retrieval.learning.usage_log import CLICK_FILE, LOG_FILE, QueryOutcome, log_folder, read_entry
from retrieval.question.dates import read_instant
from retrieval.question.words import fold_spaces
from schemas.errors import StoreUnavailable

REFORMULATED_SECONDS = 120.0
REFORMULATED_COSINE = 0.6

Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The lines of both logs in the order they were written; `unreadable` counts those that are none."""

    queries: tuple[Entry, ...]
    clicks: tuple[Entry, ...]
    unreadable: int


class MissKind(StrEnum):
    """Why a query counts as missed."""

    EMPTY = "empty"
    NOT_FOUND = "not_found"
    REFORMULATED = "reformulated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A query that did not bring what was wanted; `number` is its place in the log, from 1.

    `reformulated` is what was asked instead.
    """

    number: int
    timestamp: str
    query: str
    kind: MissKind
    reformulated: str | None = None


def read_usage(index: Path) -> Usage:
    """Read the logs of an index; an index that nobody asked has none.

    Raises: StoreUnavailable: a log is there and cannot be read.
    """
    queries, bad_queries = _read(log_folder(index) / LOG_FILE, ("timestamp", "query"))
    clicks, bad_clicks = _read(log_folder(index) / CLICK_FILE, ("timestamp", "query", "chunk_id", "doc"))
    return Usage(queries=queries, clicks=clicks, unreadable=bad_queries + bad_clicks)


def _read(path: Path, needed: Sequence[str]) -> tuple[tuple[Entry, ...], int]:
    try:
        lines = path.read_bytes().decode("utf-8", "replace").removesuffix("\n").split("\n")
    except FileNotFoundError:
        return (), 0
    except OSError as error:
        raise StoreUnavailable(f"cannot be read ({error.strerror})", subject=str(path)) from error
    lines = [line for line in lines if line.strip()]
    entries = [entry for line in lines if (entry := _entry(line, needed)) is not None]
    return tuple(entries), len(lines) - len(entries)


def _entry(line: str, needed: Sequence[str]) -> Entry | None:
    entry = read_entry(line)
    try:
        if "\\u" in line:  # half a surrogate pair is a text that nothing can write
            json.dumps(entry, ensure_ascii=False).encode()
    except ValueError:
        return None
    return entry if all(isinstance(entry.get(name), str) for name in needed) else None


def find_misses(queries: Sequence[Entry], encode: Callable[[str], Vector]) -> tuple[Miss, ...]:
    """Return the queries that brought nothing, were answered "not found", or were soon asked in other words.

    Other words: within two minutes, another text, cosine above .6. Who asked is not logged, so that on a busy
    server two people may look like one.
    """
    return tuple(
        miss
        for number, entry in enumerate(queries, start=1)
        if (miss := _miss(number, entry, queries[number:], encode))
    )


def _miss(number: int, entry: Entry, later: Sequence[Entry], encode: Callable[[str], Vector]) -> Miss | None:
    kind, words = _kind(entry), None
    if kind is None:
        words = next(_reformulations(entry, later, encode), None)
        if words is None:
            return None
        kind = MissKind.REFORMULATED
    return Miss(
        number=number, timestamp=entry["timestamp"], query=entry["query"], kind=kind, reformulated=words
    )


def _kind(entry: Entry) -> MissKind | None:
    kinds = {QueryOutcome.EMPTY.value: MissKind.EMPTY, QueryOutcome.NOT_FOUND.value: MissKind.NOT_FOUND}
    return kinds.get(str(entry.get("outcome")))


def _reformulations(entry: Entry, later: Sequence[Entry], encode: Callable[[str], Vector]) -> Iterator[str]:
    asked = read_instant(entry["timestamp"])
    for other in later:
        again = read_instant(other["timestamp"])
        if asked is None or again is None or not 0 <= (again - asked).total_seconds() <= REFORMULATED_SECONDS:
            return
        if _folded(other) != _folded(entry):
            cosine = float(np.dot(encode(entry["query"]), encode(other["query"])))
            if cosine > REFORMULATED_COSINE:
                yield other["query"]


def _folded(entry: Entry) -> str:
    return fold_spaces(str(entry["query"]))
