"""Work that waits, done in so many threads for an event loop; what would end too late is turned away."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from sitegraph.service.problems import RETRY_SECONDS, HttpProblem

T = TypeVar("T")

_SPREAD = 3.0
"""A piece of work may take so many times the average, and still ends in time."""

_WEIGHT = 0.2
"""Of the piece that ended last, in the average."""


def ends_in_time(*, waited: float, before: int, took: float, working: int, seconds: float) -> bool:
    """Whether a piece of work is expected to end within *seconds* of its asking.

    Args: waited: seconds since it was asked for. before: how many must end before it begins. took: seconds
    that a piece takes on average while *working* of them are done at a time.
    """
    return waited + took * (before / working + _SPREAD) <= seconds


class Threads:
    """Does *working* pieces of work at a time, and lets up to *waiting* more queue that end within *seconds*.

    What comes when a thread is free is always begun, so that the average follows what pieces take now.
    Work whose asker has left before it began is not done; what was begun keeps its place until it ends: what
    is turned away depends on what is being done, not on who still listens. *clock* gives monotonic seconds.
    """

    def __init__(self, *, working: int, waiting: int, seconds: float, clock: Callable[[], float]) -> None:
        self._pool = ThreadPoolExecutor(working, thread_name_prefix="serve")
        self._working = working
        self._waiting = waiting
        self._seconds = seconds
        self._clock = clock
        self._taken = 0
        self._took = 0.0

    async def run(self, work: Callable[[], T]) -> T:
        """Do *work* and give what it gives.

        Raises: HttpProblem: too much is waiting already.
        """
        before = self._taken - self._working + 1
        if before > self._waiting or (before > 0 and not self._ends_in_time(before=before)):
            raise _busy()
        self._taken += 1
        loop, asked = asyncio.get_running_loop(), self._clock()

        def begin() -> T:
            began = self._clock()
            # Others may have taken longer than was expected of them.
            if before > 0 and not self._ends_in_time(waited=began - asked):
                raise _busy()
            try:
                return work()
            finally:  # without a lock: of two that end at once one may not count
                # Beyond this nothing waits: more would only let one slow piece turn many light ones away.
                took = min(self._clock() - began, self._seconds / _SPREAD)
                self._took += _WEIGHT * (took - self._took)

        future = self._pool.submit(begin)
        future.add_done_callback(lambda done: self._leave(loop, done))
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Take nothing more; what is being done is not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _ends_in_time(self, *, waited: float = 0.0, before: int = 0) -> bool:
        return ends_in_time(
            waited=waited, before=before, took=self._took, working=self._working, seconds=self._seconds
        )

    def _leave(self, loop: asyncio.AbstractEventLoop, _done: Future[T]) -> None:
        with suppress(RuntimeError):  # the loop ended before the work
            loop.call_soon_threadsafe(self._free)

    def _free(self) -> None:
        self._taken -= 1


def _busy() -> HttpProblem:
    headers = {"Retry-After": str(RETRY_SECONDS)}
    return HttpProblem(
        503, f"too many questions are waiting; try again in {RETRY_SECONDS} s", "Busy", headers
    )
