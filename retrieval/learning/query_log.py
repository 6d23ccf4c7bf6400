"""The usage log: one line of JSON per query, appended beside the index, never in it."""

import fcntl
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemas.evidence import Query
from schemas.redaction import one_line
from schemas.usage_counts import Interface

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
