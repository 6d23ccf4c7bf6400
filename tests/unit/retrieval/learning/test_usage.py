"""The logs read back: misses, and lines that are none."""

from pathlib import Path

import numpy as np
import pytest

from indexes.ports import Vector
from retrieval.learning.usage import Entry, MissKind, find_misses, read_usage
from retrieval.learning.usage_log import CLICK_FILE, LOG_FILE, append_lines, log_click, log_folder
from schemas.errors import StoreUnavailable


def asked(query: str, minute: int = 0, second: int = 0, **fields: object) -> Entry:
    return {"timestamp": f"2026-03-01T10:{minute:02}:{second:02}+00:00", "query": query, **fields}


def encode(text: str) -> Vector:
    """Leases point one way, logs another, and "lease log" half way between."""
    vector = np.array([float("lease" in text), float("log" in text)], np.float32)
    return vector / max(1.0, float(np.linalg.norm(vector)))


def test_empty_and_not_found_answers_are_misses() -> None:
    found = find_misses(
        [
            asked("leases", 0, outcome="empty"),
            asked("logs", 10, outcome="not_found"),
            asked("logs", 20, outcome="found"),
        ],
        encode,
    )
    assert [(one.number, one.kind) for one in found] == [(1, MissKind.EMPTY), (2, MissKind.NOT_FOUND)]


def test_what_is_soon_asked_in_similar_words_was_missed() -> None:
    (miss,) = find_misses(
        [asked("lease time"), asked("the log", 1), asked("how long is a lease", 1, 59)], encode
    )
    assert (miss.number, miss.kind, miss.reformulated) == (1, MissKind.REFORMULATED, "how long is a lease")


def test_a_reformulation_comes_within_two_minutes_in_other_words_and_means_the_same() -> None:
    assert find_misses([asked("lease time"), asked("a lease", 2, 1)], encode) == ()
    assert find_misses([asked("lease time"), asked("Lease  time", 1)], encode) == ()
    assert find_misses([asked("lease time"), asked("log time", 1)], encode) == ()
    assert find_misses([{"timestamp": "soon", "query": "lease"}, asked("a lease")], encode) == ()


def test_lines_that_are_none_are_left_out_and_counted(tmp_path: Path) -> None:
    append_lines(tmp_path, LOG_FILE, [asked("leases"), {"query": "no time"}])
    log_click(tmp_path, doc="page:a", chunk_id="chunk:x", query="leases", generation=1, timestamp="t")
    with (log_folder(tmp_path) / CLICK_FILE).open("ab") as log:
        log.write(b'[]\n{"doc": "page:a"}\nhalf a li')
    usage = read_usage(tmp_path)
    assert [entry["query"] for entry in usage.queries] == ["leases"]
    assert [entry["chunk_id"] for entry in usage.clicks] == ["chunk:x"]
    assert usage.unreadable == 4


def test_an_index_that_nobody_asked_has_no_usage(tmp_path: Path) -> None:
    usage = read_usage(tmp_path / "index")
    assert (usage.queries, usage.clicks, usage.unreadable) == ((), (), 0)


def test_times_with_and_without_a_zone_compare() -> None:
    bare = {"timestamp": "2026-03-01T10:00:00", "query": "lease time"}
    assert [one.number for one in find_misses([bare, asked("a lease", 1)], encode)] == [1]


def test_a_text_that_nothing_can_write_is_no_line(tmp_path: Path) -> None:
    append_lines(tmp_path, LOG_FILE, [asked("leases")])
    with (log_folder(tmp_path) / LOG_FILE).open("ab") as log:
        log.write(b'{"timestamp": "t", "query": "\\ud800"}\n{"timestamp": "t", "query": "caf\\u00e9"}\n')
    usage = read_usage(tmp_path)
    assert ([one["query"] for one in usage.queries], usage.unreadable) == (["leases", "café"], 1)


def test_a_log_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    (log_folder(tmp_path) / LOG_FILE).mkdir(parents=True)
    with pytest.raises(StoreUnavailable, match="cannot be read"):
        read_usage(tmp_path)
