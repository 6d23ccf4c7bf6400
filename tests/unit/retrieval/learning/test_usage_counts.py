"""Questions of the usage log are counted once each, over processes, rotations and damage."""

import errno
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from retrieval.learning.query_log import LOG_FILE, append_lines, log_folder
from retrieval.learning.usage_counts import COUNTS_FILE, count_usage


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


def test_only_what_is_new_is_read(tmp_path: Path) -> None:
    index = tmp_path / "index"
    ask(index)
    ask(index)
    assert total(index) == 2
    log = log_folder(index) / LOG_FILE
    first, second = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(first + b"#" * (len(second) - 1) + b"\n")
    ask(index)
    assert total(index) == 3


def test_a_log_that_is_moved_away_is_counted_to_its_end_and_the_next_from_its_beginning(
    tmp_path: Path,
) -> None:
    index = tmp_path / "index"
    ask(index)
    assert total(index) == 1
    ask(index)
    log = log_folder(index) / LOG_FILE
    log.rename(log.with_name(f"{LOG_FILE}.1"))
    assert total(index) == 2, "there is no new log yet"
    ask(index)
    assert total(index) == 3
    log.write_bytes(b"")  # copied away and emptied
    ask(index)
    assert total(index) == 4


def test_logs_that_were_moved_away_one_after_the_other_are_all_counted(tmp_path: Path) -> None:
    index = tmp_path / "index"
    log = log_folder(index) / LOG_FILE
    ask(index)
    assert total(index) == 1
    for number in (3, 2, 1):
        ask(index)
        log.rename(log.with_name(f"{LOG_FILE}.{number}"))
        os.utime(log.with_name(f"{LOG_FILE}.{number}"), (100 - number, 100 - number))
    with log.with_name(f"{LOG_FILE}.2").open("ab") as moved:
        moved.write(b"of a writer that was killed")
    (log_folder(index) / f"{LOG_FILE}.d").mkdir()
    ask(index)
    assert (total(index), total(index)) == (5, 5)


def test_a_log_longer_than_is_read_at_a_time_is_counted_to_its_end_before_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrieval.learning.usage_counts._BLOCK", 400)
    monkeypatch.setattr("retrieval.learning.usage_counts._BLOCKS", 2)
    index = tmp_path / "index"
    for _ in range(20):
        ask(index)
    assert 0 < total(index) < 20
    log = log_folder(index) / LOG_FILE
    log.rename(log.with_name(f"{LOG_FILE}.1"))
    ask(index)
    counted = [total(index) for _ in range(20)]
    assert counted == sorted(counted)
    assert counted[-1] == 21


def test_a_log_that_cannot_be_read_for_a_while_is_not_counted_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = tmp_path / "index"
    ask(index)
    assert total(index) == 1

    def too_many_files(*_: object, **__: object) -> object:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", too_many_files)
        count_usage(index)
    assert total(index) == 1


def test_after_lines_were_taken_out_of_a_log_new_ones_are_counted(tmp_path: Path) -> None:
    index = tmp_path / "index"
    for _ in range(3):
        ask(index)
    assert total(index) == 3
    log = log_folder(index) / LOG_FILE
    log.write_bytes(log.read_bytes().splitlines(keepends=True)[0])
    assert total(index) == 3
    ask(index)
    assert total(index) == 4


def test_processes_that_count_at_once_count_each_line_once_and_never_less_than_before(tmp_path: Path) -> None:
    index = tmp_path / "index"
    with ThreadPoolExecutor(4) as threads:
        asking = [threads.submit(lambda: [ask(index) for _ in range(50)]) for _ in range(2)]
        counting = [threads.submit(lambda: [total(index) for _ in range(200)]) for _ in range(2)]
        for told in (one.result() for one in counting):
            assert told == sorted(told)
        for one in asking:
            one.result()
    assert total(index) == 100


def test_where_the_counts_cannot_be_saved_they_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = tmp_path / "index"
    ask(index)
    assert total(index) == 1
    ask(index)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", lambda *_: os.stat("/nowhere"))
        assert total(index) == 1, "else the next process would tell less"
    assert total(index) == 2


def test_an_index_that_nobody_asked_has_no_counts_and_gets_no_folder(tmp_path: Path) -> None:
    assert total(tmp_path / "index") == 0
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_state_begins_anew_and_what_cannot_be_written_raises_nothing(tmp_path: Path) -> None:
    index = tmp_path / "index"
    ask(index)
    state = log_folder(index) / COUNTS_FILE
    for text in ("{", "[]", json.dumps({"head": "x", "offset": "many", "questions": [[1]], "durations": {}})):
        state.write_text(text)
        assert total(index) == 1
    state.unlink()
    state.mkdir()  # which no file can replace
    assert total(index) == 0
