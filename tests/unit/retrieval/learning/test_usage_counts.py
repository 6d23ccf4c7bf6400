"""Questions of the usage log are counted once each, also of logs that were renamed."""

import os
from pathlib import Path

from retrieval.learning.usage_log import LOG_FILE, append_lines, count_usage, log_folder


def ask(index: Path, *, door: object = "query", outcome: str = "found", seconds: object = 0.2) -> None:
    number = len(list(log_folder(index).glob("*")))
    entry = {"timestamp": f"2026-03-01T00:00:0{number}", "query": os.urandom(4).hex(), "outcome": outcome}
    append_lines(index, LOG_FILE, [{**entry, "door": door, "seconds": seconds}])


def total(index: Path) -> int:
    return sum(count_usage(index).questions.values())


def test_questions_are_counted_by_door_and_outcome_with_their_time(tmp_path: Path) -> None:
    for door, outcome in (("query", "found"), ("query", "empty"), ("ask", "not_found"), ("mcp", "found")):
        ask(tmp_path / "index", door=door, outcome=outcome)
    counts = count_usage(tmp_path / "index")
    assert counts.questions == {
        ("query", "found"): 1,
        ("query", "not_found"): 1,
        ("ask", "not_found"): 1,
        ("mcp", "found"): 1,
    }
    assert counts.durations["query"].counts[4] == 2, "both took longer than .1 s and no longer than .25"
    assert counts.durations["query"].seconds == 0.4


def test_what_serve_counts_itself_and_what_is_no_question_is_left_out(tmp_path: Path) -> None:
    index = tmp_path / "index"
    ask(index, door="serve")
    ask(index, door="made up")
    ask(index, door=["query"])
    append_lines(index, LOG_FILE, [{"query": "of an earlier version", "outcome": "found"}])
    with (log_folder(index) / LOG_FILE).open("ab") as log:
        log.write(b"[]\nno json\n\xff\n")
    for seconds in ("long", -1.0, float("nan"), True, 10**400):
        ask(index, seconds=seconds)
    assert total(index) == 5
    assert count_usage(index).durations == {}


def test_a_line_is_counted_once_and_one_that_is_being_written_when_it_is_whole(tmp_path: Path) -> None:
    index = tmp_path / "index"
    ask(index)
    assert (total(index), total(index)) == (1, 1)
    log = log_folder(index) / LOG_FILE
    line = log.read_bytes()
    with log.open("ab") as more:
        more.write(line[:40])
    assert total(index) == 1
    with log.open("ab") as more:
        more.write(line[40:])
    assert total(index) == 2


def test_logs_that_were_renamed_are_counted_too(tmp_path: Path) -> None:
    index = tmp_path / "index"
    log = log_folder(index) / LOG_FILE
    for number in (2, 1):
        ask(index)
        log.rename(log.with_name(f"{LOG_FILE}.{number}"))
    log.with_name(f"{LOG_FILE}.d").mkdir()
    ask(index)
    assert (total(index), total(index)) == (3, 3)


def test_an_index_that_nobody_asked_has_no_counts_and_gets_no_folder(tmp_path: Path) -> None:
    assert total(tmp_path / "index") == 0
    assert list(tmp_path.iterdir()) == []
