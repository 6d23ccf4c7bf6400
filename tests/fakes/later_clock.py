"""Processes whose clock is days ahead, by libfaketime (Debian's `faketime`): all their libraries ask it."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_DAY = 86_400
# libfaketime 0.9.10 takes the offset off absolute monotonic waits too, and Python sleeps by one.
_SLEEP = "import select, time\ntime.sleep = lambda seconds: select.select([], [], [], seconds) and None\n"


def later(days: float, *, folder: Path) -> dict[str, str]:
    """Environment of a Python process that lives *days* after today; skips the test without libfaketime.

    Waits and file times stay real; `writing_later` makes what a process wrote as late as its clock was.

    Args: folder: where a module is put that the process imports as it starts.
    """
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(_SLEEP)
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")])),
        "LD_PRELOAD": str(libfaketime()),
        "FAKETIME": f"+{days * _DAY:.0f}",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_DISABLE_SHM": "1",
        "NO_FAKE_STAT": "1",
    }


@contextmanager
def writing_later(folder: Path, days: float) -> Iterator[None]:
    """Date what is written below *folder* inside the block *days* ahead."""
    began = time.time() - 1
    yield
    for path in folder.rglob("*"):
        if path.is_file() and began <= path.stat().st_mtime <= time.time() + 1:
            at = path.stat().st_mtime + days * _DAY
            os.utime(path, (at, at))


def libfaketime() -> Path:
    """The library; skips the test where it is missing."""
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    if not found or not shutil.which("faketime"):
        pytest.skip("needs Debian's faketime")
    return found[0]
