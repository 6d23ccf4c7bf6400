"""Work for others that may neither hold up nor fail what it is about: done aside, given up in time."""

import threading
import time
from collections.abc import Callable, Iterable

SECONDS = 3.0
"""How long the end of a run waits for what it tells others to be delivered."""

Say = Callable[[str], None]
"""Takes the one line that a failure is worth."""


class Once:
    """Says the first line it is given, and no other: whoever cannot be reached now was not, a moment ago."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._lock = threading.Lock()
        self._said = False

    def __call__(self, line: str) -> None:
        with self._lock:
            said, self._said = self._said, True
        if not said:
            self._say(line)


def finish_within(seconds: float, works: Iterable[Callable[[], object]]) -> bool:
    """Do all *works* side by side; whether they ended in time. What did not ends with the process."""
    threads = [threading.Thread(target=work, daemon=True, name="telemetry") for work in works]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return not any(thread.is_alive() for thread in threads)
