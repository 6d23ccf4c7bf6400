"""What a piece of work takes in this process."""

import time
from collections.abc import Callable
from typing import Any

from runtime.readings import peak_rss_mb


def timed(work: Callable[[], int]) -> dict[str, Any]:
    """Do *work*, which gives how many pages it dealt with, and give that with CPU, wall and memory."""
    cpu, wall = -time.process_time(), -time.monotonic()
    pages = work()
    return {
        "pages": pages,
        "cpu_seconds": cpu + time.process_time(),
        "wall_seconds": wall + time.monotonic(),
        "peak_rss_mb": peak_rss_mb(),
    }
