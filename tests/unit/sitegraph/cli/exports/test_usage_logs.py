"""The logs as Parquet and as rows."""

from pathlib import Path

import numpy as np
import pytest
from pyarrow.parquet import read_table

from indexes.ports import Vector
from retrieval.learning.usage import Usage
from sitegraph.actions.export_usage import usage_rows, write_usage

ENTRY = {
    "timestamp": "2026-03-01T10:00:00+00:00",
    "query": "lease",
    "filters": {"kind": ["pdf"]},
    "top_k": 3,
    "use_graph": True,
    "rerank": False,
    "route": "plain",
    "generation": 2,
    "degraded": [],
    "outcome": "empty",
    "winners": ["chunk:a"],
    "candidates": [
        {"rank": 1, "chunk_id": "chunk:a", "doc": "page:a", "score": 0.5, "text": 1.0, "logit": 2}
    ],
}
OLD = {"timestamp": "2026-02-01T10:00:00+00:00", "query": "log", "top_k": "3"}
CLICK = {"timestamp": "t", "generation": 2, "query": "lease", "chunk_id": "chunk:a", "doc": "page:a"}
USAGE = Usage(queries=(OLD, ENTRY), clicks=(CLICK,), unreadable=0)


def encode(text: str) -> Vector:
    return np.zeros(2, np.float32)


def test_each_log_is_a_table_and_candidates_are_rows_of_their_own(tmp_path: Path) -> None:
    write_usage(USAGE, encode, tmp_path)
    tables = {path.stem: read_table(path).to_pylist() for path in sorted(tmp_path.iterdir())}
    assert sorted(tables) == ["candidates", "clicks", "misses", "queries"]
    old, new = tables["queries"]
    assert (old["number"], old["query"], old["top_k"], old["winners"]) == (1, "log", None, None)
    assert (new["number"], new["filters"], new["winners"]) == (2, '{"kind": ["pdf"]}', ["chunk:a"])
    (candidate,) = tables["candidates"]
    assert (candidate["number"], candidate["rank"], candidate["logit"]) == (2, 1, 2.0)
    assert candidate["graph"] is None
    assert tables["clicks"] == [CLICK]
    assert [(one["number"], one["kind"]) for one in tables["misses"]] == [(2, "empty")]


def test_an_empty_log_gives_tables_with_their_columns(tmp_path: Path) -> None:
    write_usage(Usage(queries=(), clicks=(), unreadable=0), encode, tmp_path)
    assert "reformulated" in read_table(tmp_path / "misses.parquet").column_names


def test_rows_say_of_which_type_they_are() -> None:
    rows = list(usage_rows(USAGE, encode))
    assert [row["type"] for row in rows] == ["query", "query", "click", "miss"]
    assert rows[1]["candidates"] == ENTRY["candidates"]


@pytest.mark.parametrize(
    "odd",
    [
        {"candidates": None},
        {"candidates": 5},
        {"candidates": "chunk:a"},
        {"candidates": [1, {"rank": 10**30, "score": True, "number": 7}]},
        {"winners": [1, None]},
        {"top_k": 10**30},
        {"top_k": True},
    ],
)
def test_what_another_program_wrote_into_a_line_stops_no_export(
    tmp_path: Path, odd: dict[str, object]
) -> None:
    write_usage(Usage(queries=({**OLD, **odd},), clicks=(), unreadable=0), encode, tmp_path)
    (row,) = read_table(tmp_path / "queries.parquet").to_pylist()
    assert (row["query"], row["top_k"], row["winners"]) == ("log", None, None)
    assert all(one["number"] == 1 for one in read_table(tmp_path / "candidates.parquet").to_pylist())
