"""Work that waits, done in a bounded number of threads for an event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from sitegraph.service.problems import RETRY_SECONDS, HttpProblem

T = TypeVar("T")


class Threads:
    """Runs at most *working* pieces of work at a time and lets *waiting* more queue; the next is turned away.

    A piece whose asker has left keeps its place until it ends: what is turned away depends on what is being
    done, not on who still listens.
    """

    def __init__(self, *, working: int, waiting: int) -> None:
        self._pool = ThreadPoolExecutor(working, thread_name_prefix="serve")
        self._places = working + waiting
        self._taken = 0

    async def run(self, work: Callable[[], T]) -> T:
        """Do *work* and give what it gives.

        Raises: HttpProblem: too much is waiting already.
        """
        if self._taken >= self._places:
            headers = {"Retry-After": str(RETRY_SECONDS)}
            raise HttpProblem(503, "too many questions are waiting; try again", "Busy", headers)
        self._taken += 1
        loop = asyncio.get_running_loop()
        future = self._pool.submit(work)
        future.add_done_callback(lambda done: self._leave(loop, done))
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Take nothing more; what is being done is not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _leave(self, loop: asyncio.AbstractEventLoop, _done: Future[T]) -> None:
        with suppress(RuntimeError):  # the loop ended before the work
            loop.call_soon_threadsafe(self._free)

    def _free(self) -> None:
        self._taken -= 1
