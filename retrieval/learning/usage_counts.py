"""Counts the questions of the usage log: each line once, however often it is asked, moved away or shared.

How far the log has been counted lies beside it, so that counters rise over processes and rotations.
"""

import fcntl
import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from retrieval.learning.query_log import LOG_FILE, QueryOutcome, log_folder
from schemas.usage_counts import BUCKETS, Durations, Interface, UsageCounts

COUNTS_FILE = "usage-counts.json"
FOUND, NOT_FOUND = "found", "not_found"

_HEAD, _BLOCK = 1 << 16, 1 << 20
_BLOCKS = 32
"""So many blocks, 32 MiB of log, are read at a time; what is left is counted the next time."""

_OUTCOMES = {
    QueryOutcome.FOUND.value: FOUND,
    QueryOutcome.EMPTY.value: NOT_FOUND,
    QueryOutcome.NOT_FOUND.value: NOT_FOUND,
}
_COUNTED = frozenset(
    {Interface.QUERY.value, Interface.ASK.value, Interface.RETRIEVAL.value, Interface.MCP.value}
)
"""`serve` counts its own questions, and more of them: those that were refused, too."""


@dataclass(frozen=True, slots=True)
class CountedLog:
    """What has been counted, and how far: `head` names the log by its first line, `offset` is in bytes."""

    head: str = ""
    offset: int = 0
    counts: UsageCounts = field(default_factory=UsageCounts)


def count_usage(index: Path) -> UsageCounts:
    """Return the counts of an index's usage log, of which only what is new is read.

    They are as last saved while another process counts, and where they cannot be saved: what one process
    gives is never less than what another gave before. Raises nothing for what cannot be read or written.
    """
    folder = log_folder(index)
    state = _load(folder)
    with suppress(OSError):  # no log yet, no right to it, another who counts: the counts so far hold
        if os.access(folder, os.W_OK):
            with _alone_in(folder):
                state = _load(folder)
                if (counted := _count(folder, state)) != state:
                    _save(folder, counted)
                    state = counted
    return state.counts


def add_lines(counts: UsageCounts, lines: Iterable[bytes]) -> UsageCounts:
    """Return the counts with those of more lines; what is no question by a known interface is left out."""
    questions, durations = dict(counts.questions), dict(counts.durations)
    for entry in filter(None, map(_entry, lines)):
        door, outcome = entry.get("door"), _OUTCOMES.get(str(entry.get("outcome")))
        if door not in _COUNTED or outcome is None:
            continue
        questions[door, outcome] = questions.get((door, outcome), 0) + 1
        if (seconds := _seconds(entry)) is not None:
            durations[door] = durations.get(door, Durations()).plus(seconds)
    return UsageCounts(questions, durations)


def _entry(line: bytes) -> Mapping[str, Any] | None:
    if b'"door"' not in line:  # which is soon seen, also of a long line
        return None
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) and isinstance(entry.get("door"), str) else None


def _seconds(entry: Mapping[str, Any]) -> float | None:
    seconds = entry.get("seconds")
    return seconds if isinstance(seconds, float) and math.isfinite(seconds) and seconds >= 0 else None


def _count(folder: Path, state: CountedLog) -> CountedLog:
    """Count what is left of the log begun, wherever in the folder it is now, then those that came after."""
    present = folder / LOG_FILE
    head = _head(present)
    if state.head and state.head != head:
        for path, name in _moved_since(folder, state.head):
            begun = state if state.head == name else CountedLog(name, counts=state.counts)
            state, at_end = _read_on(path, begun)
            if not at_end:
                return state
        state = CountedLog(counts=state.counts)
    return _read_on(present, replace(state, head=head))[0] if head else state


def _moved_since(folder: Path, head: str) -> list[tuple[Path, str]]:
    """Return the log of that first line and those moved away after it, oldest first; none if it is gone."""
    found = (path for path in folder.glob(f"{LOG_FILE}?*") if path.is_file() and os.access(path, os.R_OK))
    # Renaming leaves the time of the last line.
    moved = [(path, _head(path)) for path in sorted(found, key=lambda path: path.stat().st_mtime_ns)]
    begun = next((at for at, (_, name) in enumerate(moved) if name == head), len(moved))
    return moved[begun:]


def _head(path: Path) -> str:
    """Name a log by its first line, which has a time and a question; empty while it has none."""
    try:
        with path.open("rb") as log:
            first = log.read(_HEAD)
    except FileNotFoundError:  # any other trouble may pass, and the log is still the one begun
        return ""
    line, end, _ = first.partition(b"\n")
    return hashlib.sha256(line).hexdigest() if end or len(first) == _HEAD else ""


def _read_on(path: Path, state: CountedLog) -> tuple[CountedLog, bool]:
    """Count more of a log; also whether there are no whole lines left."""
    with path.open("rb") as log:
        # Lines that somebody took out of a log make it shorter than it was.
        state = replace(state, offset=min(state.offset, os.fstat(log.fileno()).st_size))
        for _ in range(_BLOCKS):
            log.seek(state.offset)
            block = log.read(_BLOCK)
            whole = block.rfind(b"\n") + 1
            if not whole and len(block) < _BLOCK:  # the rest is still being written
                return state, True
            counts = add_lines(state.counts, block[:whole].splitlines())
            # A block without an end of line is no line of ours.
            state = replace(state, offset=state.offset + (whole or len(block)), counts=counts)
    return state, False


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which leaves no file. Raises: OSError: it is held, or is not there."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(opened)


def _save(folder: Path, state: CountedLog) -> None:
    record = {
        "head": state.head,
        "offset": state.offset,
        "questions": [[*key, number] for key, number in sorted(state.counts.questions.items())],
        "durations": {door: asdict(one) for door, one in sorted(state.counts.durations.items())},
    }
    new = folder / f".{COUNTS_FILE}"
    new.write_text(json.dumps(record), encoding="utf-8")
    new.replace(folder / COUNTS_FILE)


def _load(folder: Path) -> CountedLog:
    """What was saved; nothing where there is nothing or not what this version writes: counters begin anew."""
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError):
        record = json.loads((folder / COUNTS_FILE).read_bytes())
        questions = {(str(door), str(outcome)): int(n) for door, outcome, n in record["questions"]}
        durations = {
            str(door): Durations(tuple(map(int, one["counts"])), float(one["seconds"]))
            for door, one in record["durations"].items()
        }
        if all(len(one.counts) == len(BUCKETS) + 1 for one in durations.values()):
            counts = UsageCounts(questions, durations)
            return CountedLog(str(record["head"]), max(int(record["offset"]), 0), counts)
    return CountedLog()
