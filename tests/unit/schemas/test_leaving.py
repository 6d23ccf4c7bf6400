"""`leave` in processes of their own, beside `sys.exit`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TOLD = """
import atexit, sys, threading, time
from schemas.leaving import leave

class Kept:
    def __del__(self):
        print("taken apart")

kept = Kept()
kept.itself = kept
atexit.register(print, "at the end")
threading._register_atexit(print, "after threads")
threading.Thread(target=lambda: (time.sleep(0.3), print("thread"))).start()
print("said", end=" ")
"""


def run(ending: str, **streams: object) -> subprocess.CompletedProcess[str]:
    """Run what says something at each point of its end."""
    command = ["env", "-u", "PYTHONUNBUFFERED", sys.executable, "-c", TOLD + ending]
    return subprocess.run(command, cwd=ROOT, text=True, check=False, **streams)  # type: ignore[call-overload, no-any-return]


def test_all_is_said_and_nothing_is_taken_apart() -> None:
    left = run("leave(3)", capture_output=True)
    ended = run("sys.exit(3)", capture_output=True)
    assert (left.returncode, left.stderr) == (ended.returncode, ended.stderr) == (3, "")
    assert sorted(left.stdout.split("\n")) == sorted(ended.stdout.replace("taken apart\n", "").split("\n"))
    assert "taken apart" in ended.stdout


@pytest.mark.parametrize("ending", ["leave(0)", "sys.exit(0)"])
def test_what_cannot_be_written_has_the_code_of_python(ending: str) -> None:
    read, write = os.pipe()
    os.close(read)
    process = run(ending, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert process.returncode == 120
    assert "BrokenPipeError" in process.stderr
