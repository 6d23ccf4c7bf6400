"""How far a process's memory rose within a block.

The kernel's mark (VmHWM) is reset first: it, and `ru_maxrss` the more, remembers whatever ran before.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_PROC = Path("/proc/self")


@contextmanager
def growth_in_mb() -> Iterator[Callable[[], float]]:
    """Return a question: the peak since the block began, less what was resident then, in MB."""
    try:
        (_PROC / "clear_refs").write_text("5")
    except OSError as error:
        pytest.skip(f"the kernel's memory mark cannot be reset ({error})")
    before = _status("VmRSS")
    yield lambda: (_status("VmHWM") - before) / 1000


def _status(key: str) -> int:
    line = next(line for line in (_PROC / "status").read_text().splitlines() if line.startswith(key))
    return int(line.split()[1])
