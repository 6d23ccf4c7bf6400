"""Crashes on purpose, where and how they are asked for."""

import errno
import signal
import subprocess
import sys

import pytest

from runtime.settings import crash_point
from schemas.errors import ConfigError

KILL = """
from runtime.settings import crash_point
point = crash_point("a.b:kill")
point("a")
print("on", flush=True)
point("a.b")
"""


@pytest.mark.parametrize("setting", [None, ""])
def test_without_a_setting_nothing_crashes(setting: str | None) -> None:
    crash_point(setting)("current.before_rename")


def test_only_the_named_point_crashes() -> None:
    point = crash_point("graph.nodes_done:raise")
    point("graph.before_batch")
    point("graph.nodes")
    with pytest.raises(RuntimeError, match="on purpose"):
        point("graph.nodes_done")


def test_a_full_disk_looks_like_one() -> None:
    with pytest.raises(OSError, match="No space left") as caught:
        crash_point("vector.before_merge:enospc")("vector.before_merge")
    assert caught.value.errno == errno.ENOSPC


def test_a_kill_cannot_be_caught() -> None:
    done = subprocess.run([sys.executable, "-c", KILL], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "on\n")


@pytest.mark.parametrize("setting", ["graph.nodes_done", "graph.nodes_done:explode", ":"])
def test_a_setting_that_says_nothing_is_refused(setting: str) -> None:
    with pytest.raises(ConfigError, match=r"SITEGRAPH_FAULT: .* is not POINT:kill\|stop\|raise\|enospc"):
        crash_point(setting)
