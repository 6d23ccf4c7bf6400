"""The logs of an index as rows and as Parquet files, for pandas, Polars, DuckDB and Spark."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow.parquet import write_table

from indexes.ports import Vector
from retrieval.learning.usage import Usage, find_misses
from schemas.records import to_record

Row = Mapping[str, Any]
Encode = Callable[[str], Vector]

_TEXT, _NUMBER, _SHARE, _FLAG, _TEXTS = (
    pa.string(),
    pa.int64(),
    pa.float64(),
    pa.bool_(),
    pa.list_(pa.string()),
)
_HELD: Mapping[pa.DataType, tuple[type, ...]] = {
    _TEXT: (str,),
    _NUMBER: (int,),
    _SHARE: (int, float),
    _FLAG: (bool,),
    _TEXTS: (list,),
}
_WHOLE_MAX = 2**53
"""What a column of whole numbers and one of shares have in common."""
_PARTS = dict.fromkeys(("score", "text", "graph", "anchor", "authority", "freshness", "logit"), _SHARE)
_COLUMNS: Mapping[str, Mapping[str, pa.DataType]] = {
    "queries": {
        "number": _NUMBER,
        "timestamp": _TEXT,
        "query": _TEXT,
        "filters": _TEXT,
        "top_k": _NUMBER,
        "use_graph": _FLAG,
        "rerank": _FLAG,
        "route": _TEXT,
        "generation": _NUMBER,
        "degraded": _TEXTS,
        "outcome": _TEXT,
        "winners": _TEXTS,
    },
    "candidates": {"number": _NUMBER, "rank": _NUMBER, "chunk_id": _TEXT, "doc": _TEXT, **_PARTS},
    "clicks": {"timestamp": _TEXT, "generation": _NUMBER, "query": _TEXT, "chunk_id": _TEXT, "doc": _TEXT},
    "misses": {
        "number": _NUMBER,
        "timestamp": _TEXT,
        "query": _TEXT,
        "kind": _TEXT,
        "reformulated": _TEXT,
    },
}
"""`number` is a query's place in its log; `filters` is JSON, since every filter has columns of its own."""


def usage_rows(usage: Usage, encode: Encode) -> Iterator[dict[str, Any]]:
    """Yield queries with their candidates, then clicks, then misses; each row says which `type` it is."""
    for number, entry in enumerate(usage.queries, start=1):
        yield {"type": "query", "number": number, **entry}
    yield from ({"type": "click", **entry} for entry in usage.clicks)
    yield from ({"type": "miss", **to_record(miss)} for miss in find_misses(usage.queries, encode))


def write_usage(usage: Usage, encode: Encode, folder: Path) -> None:
    """Write `queries`, `candidates`, `clicks` and `misses` as Parquet files into *folder*."""
    for name, rows in _tables(usage, encode).items():
        schema = pa.schema(list(_COLUMNS[name].items()))
        typed = [{key: _typed(row.get(key), kind) for key, kind in _COLUMNS[name].items()} for row in rows]
        write_table(
            pa.Table.from_pylist(typed, schema=schema), folder / f"{name}.parquet", compression="zstd"
        )


def _tables(usage: Usage, encode: Encode) -> dict[str, list[Row]]:
    numbered = list(enumerate(usage.queries, start=1))
    return {
        "queries": [{"number": number, **entry} for number, entry in numbered],
        "candidates": [{**one, "number": number} for number, entry in numbered for one in _candidates(entry)],
        "clicks": list(usage.clicks),
        "misses": [to_record(miss) for miss in find_misses(usage.queries, encode)],
    }


def _candidates(entry: Row) -> Iterator[Row]:
    listed = entry.get("candidates")
    return (one for one in (listed if isinstance(listed, list) else ()) if isinstance(one, dict))


def _typed(value: Any, kind: pa.DataType) -> Any:
    """Return a value as its column has it, None where a line of the log contains another type."""
    if isinstance(value, dict) and kind is _TEXT:
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    if not isinstance(value, _HELD[kind]) or (isinstance(value, bool) and kind is not _FLAG):
        return None
    if isinstance(value, int) and not -_WHOLE_MAX <= value <= _WHOLE_MAX:
        return None
    return None if isinstance(value, list) and not all(isinstance(one, str) for one in value) else value
