"""The usage log: one line of JSON per query, appended beside the index, never in it."""

import json
from collections.abc import Sequence
from pathlib import Path

from schemas.evidence import Query

LOG_FILE = "queries.jsonl"


def log_folder(index: Path) -> Path:
    """Give the folder of an index's logs: `NAME.logs` beside the index folder `NAME`."""
    whole = index.resolve()
    return whole.with_name(f"{whole.name}.logs")


def log_queries(index: Path, queries: Sequence[Query], *, timestamp: str) -> None:
    """Append one line per query; one write, so that lines of several processes do not mix.

    Raises: OSError: the log cannot be written; a query need not fail over that.
    """
    folder = log_folder(index)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOG_FILE).open("a", encoding="utf-8") as log:
        log.write(
            "".join(json.dumps(_entry(query, timestamp), ensure_ascii=False) + "\n" for query in queries)
        )


def _entry(query: Query, timestamp: str) -> dict[str, object]:
    return {
        "timestamp": timestamp,
        "query": query.text,
        "filters": {one.field: list(one.values) for one in query.filters},
        "top_k": query.top_k,
        "use_graph": query.use_graph,
    }
