"""The usage log: a line of JSON for each query and followed citation, beside the index; its counts."""

import fcntl
import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemas.evidence import Durations, Interface, Query, UsageCounts
from schemas.redaction import one_line

if TYPE_CHECKING:
    from retrieval.ranking.score import Scored
    from retrieval.retriever import RetrievalResult

LOG_FILE = "queries.jsonl"
CANDIDATES_KEPT = 30
"""Best candidates of a query that are logged; hard negatives are looked for among as many."""


class QueryOutcome(StrEnum):
    """How a query ended, as far as is known when it is logged."""

    FOUND = "found"
    EMPTY = "empty"
    NOT_FOUND = "not_found"


def log_folder(index: Path) -> Path:
    """Return the folder of an index's logs: `NAME.logs` beside the index folder `NAME`."""
    whole = index.resolve()
    return whole.with_name(f"{whole.name}.logs")


def log_queries(
    index: Path,
    queries: Sequence[Query],
    *,
    timestamp: str,
    results: "Sequence[RetrievalResult]" = (),
    not_found: bool = False,
    door: Interface | None = None,
    seconds: float | None = None,
) -> None:
    """Append one line per query, without the secrets of its words.

    Args: results: what each query brought, where it was a retriever that answered. not_found: an answerer had
    the evidence and said that it does not contain the answer. door: by what they
    were asked. seconds: from a question to its answer.
    Raises: OSError: the log cannot be written; a query need not fail over that.
    """
    append_lines(
        index,
        LOG_FILE,
        (
            {
                **_asked(query, timestamp),
                **_answered(door, seconds),
                **(_found(result, not_found=not_found) if result else {}),
            }
            for query, result in zip_longest(queries, results)
        ),
    )


def append_lines(index: Path, name: str, entries: Iterable[Mapping[str, Any]]) -> None:
    """Append entries to a log of *index*, one writer at a time, so that no two processes mix lines.

    Where the last line has no end, since its writer was killed or the disk was full, a new one is begun.
    """
    folder = log_folder(index)
    folder.mkdir(parents=True, exist_ok=True)
    data = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries).encode()
    log = os.open(folder / name, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        fcntl.flock(log, fcntl.LOCK_EX)  # a line that another is still writing has no end either
        os.write(log, data if _ends_a_line(log) else b"\n" + data)
    finally:
        os.close(log)


def _ends_a_line(log: int) -> bool:
    size = os.fstat(log).st_size
    return size == 0 or os.pread(log, 1, size - 1) == b"\n"


def _asked(query: Query, timestamp: str) -> dict[str, Any]:
    return {
        "timestamp": timestamp,
        "query": one_line(query.text),
        "filters": {one.field: list(map(one_line, one.values)) for one in query.filters},
        "top_k": query.top_k,
        "use_graph": query.use_graph,
        "rerank": query.rerank,
        **({"version": one_line(query.version)} if query.version is not None else {}),
    }


def _answered(door: Interface | None, seconds: float | None) -> dict[str, Any]:
    """What was not given is left out: logs of other programs lack it, and metrics leave those out."""
    told = {"door": door and door.value, "seconds": seconds if seconds is None else round(seconds, 4)}
    return {name: value for name, value in told.items() if value is not None}


def _found(result: "RetrievalResult", *, not_found: bool) -> dict[str, Any]:
    bundle = result.bundle
    found = QueryOutcome.NOT_FOUND if not_found else QueryOutcome.FOUND
    return {
        "route": bundle.route,
        "generation": bundle.generation,
        "degraded": list(bundle.degraded),
        "outcome": (found if bundle.evidence else QueryOutcome.EMPTY).value,
        "winners": [one.chunk_id for one in bundle.evidence],
        "candidates": [
            _candidate(rank, one) for rank, one in enumerate(result.candidates[:CANDIDATES_KEPT], start=1)
        ],
    }


def _candidate(rank: int, one: "Scored") -> dict[str, Any]:
    parts = {name: getattr(one.scores, name) for name in one.scores.__slots__}
    found = {"rank": rank, "chunk_id": one.chunk.id, "doc": one.chunk.doc, "score": one.score, **parts}
    return found if one.logit is None else {**found, "logit": one.logit}


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
    entry = read_entry(line) if chunk_id in line else {}
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
    doc = read_entry(line).get("doc")
    return doc if isinstance(doc, str) else None


def read_entry(line: str | bytes) -> dict[str, Any]:
    """Read a line of a log; nothing where it is none."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}


FOUND, NOT_FOUND = "found", "not_found"

_OUTCOMES = {
    QueryOutcome.FOUND.value: FOUND,
    QueryOutcome.EMPTY.value: NOT_FOUND,
    QueryOutcome.NOT_FOUND.value: NOT_FOUND,
}
_COUNTED = frozenset(
    {Interface.QUERY.value, Interface.ASK.value, Interface.RETRIEVAL.value, Interface.MCP.value}
)
"""`serve` counts its own questions, and more of them: those that were refused, too."""


def count_usage(index: Path) -> UsageCounts:
    """Return the counts of an index's usage log and of those that were renamed beside it.

    Raises nothing for what cannot be read; what is no question by a known interface is left out.
    """
    questions: Counter[tuple[str, str]] = Counter()
    durations: dict[str, Durations] = {}
    for entry in _entries_with_door(log_folder(index)):
        door, outcome = entry.get("door"), _OUTCOMES.get(str(entry.get("outcome")))
        if not isinstance(door, str) or door not in _COUNTED or outcome is None:
            continue
        questions[door, outcome] += 1
        seconds = entry.get("seconds")
        if isinstance(seconds, float) and math.isfinite(seconds) and seconds >= 0:
            durations[door] = durations.get(door, Durations()).plus(seconds)
    return UsageCounts(dict(questions), durations)


def _entries_with_door(folder: Path) -> Iterator[Mapping[str, Any]]:
    for path in sorted(folder.glob(f"{LOG_FILE}*")):
        with suppress(OSError), path.open("rb") as log:
            # Whether a line has the key is soon seen, also of a long line.
            yield from (read_entry(line) for line in log if b'"door"' in line)
