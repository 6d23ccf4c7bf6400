"""Crash on purpose at named points (`SITEGRAPH_FAULT=point:kill|stop|raise|enospc`), to test recovery."""

import errno
import os
import signal
from collections.abc import Callable

from schemas.errors import ConfigError

_ACTIONS = ("kill", "stop", "raise", "enospc")


def crash_point(setting: str | None) -> Callable[[str], None]:
    """Return a function that crashes when called with the point that *setting* names."""
    if not setting:
        return lambda _point: None
    point, _, action = setting.partition(":")
    if action not in _ACTIONS:
        raise ConfigError(f"{setting!r} is not POINT:{'|'.join(_ACTIONS)}", subject="SITEGRAPH_FAULT")

    def crash(reached: str) -> None:
        if reached == point:
            _crash(action)

    return crash


def _crash(action: str) -> None:
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if action == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)  # until somebody sends SIGCONT
        return
    if action == "enospc":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    raise RuntimeError("crashed on purpose")
