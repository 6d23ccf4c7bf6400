"""The textfile of an index, which several runs write: what it says of the others stays in it."""

import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from runtime.telemetry import catalogue
from schemas.health import LastRun

WAIT = 10.0
"""Seconds to wait for another run that writes; then this one writes all the same, or nobody tells its end."""

_STEP = 0.05


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder inside the block, if it comes free in time. Source: flock(2).

    Who reads and writes under it never replaces a newer textfile by an older one. The folder itself is
    locked: that leaves no file. One that may not be read is not. Raises: OSError: it cannot be made.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        opened = os.open(folder, os.O_RDONLY)
    except PermissionError:
        yield
        return
    try:
        _lock(opened)
        yield
    finally:
        os.close(opened)


def _lock(opened: int) -> None:
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_STEP)
        except OSError:  # a shared folder that knows no such locks
            return
        else:
            return


def read_attempts(path: Path, index: str) -> Mapping[str, LastRun]:
    """How the last run of each source of an index ended, as a textfile has it; none if it cannot be read."""
    try:
        families = list(text_string_to_metric_families(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}
    told: dict[str, dict[str, str | float]] = {}
    for sample in (one for family in families for one in family.samples):
        if sample.labels.get("index") != index or "source" not in sample.labels:
            continue
        of_source = told.setdefault(sample.labels["source"], {})
        if sample.name == catalogue.RUN_STATE.name and sample.value == 1:
            of_source[sample.name] = sample.labels["state"]
        elif sample.name in (catalogue.RUN_START.name, catalogue.RUN_END.name):
            of_source[sample.name] = sample.value
    return {source: one for source, of_source in told.items() if (one := _attempt(of_source))}


def _attempt(told: Mapping[str, str | float]) -> LastRun | None:
    state, start = told.get(catalogue.RUN_STATE.name), told.get(catalogue.RUN_START.name)
    end = told.get(catalogue.RUN_END.name)
    if state is None or start is None or end is None:
        return None
    return LastRun(state=str(state), started_at=_time(start), finished_at=_time(end))


def _time(seconds: str | float) -> str:
    return datetime.fromtimestamp(float(seconds), UTC).isoformat(timespec="seconds")
