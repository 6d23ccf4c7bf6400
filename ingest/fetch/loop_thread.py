"""An event loop in a thread of its own, so that several threads can fetch through one session."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from threading import Lock, Thread
from typing import Any, TypeVar

from schemas.cost import Cause, caused_by

T = TypeVar("T")

_CLOSE_SECONDS = 5.0


class LoopThread:
    """Runs coroutines for callers of any thread; starts with the first of them."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._starting = Lock()
        self._thread = Thread(target=self._run, name="sitegraph-fetch", daemon=True)

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start *work*; cancelling the future cancels it."""
        with self._starting:  # two first callers would both start it
            if self._thread.ident is None:
                self._thread.start()
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run *work* to its end; an interrupt of the waiting caller cancels it."""
        future = self.submit(work)
        try:
            return future.result()
        finally:
            future.cancel()

    def call(self, action: Callable[[], None]) -> None:
        """Have the loop do *action* soon."""
        self._loop.call_soon_threadsafe(action)

    def close(self) -> None:
        """Cancel what still runs and end the thread."""
        with suppress(TimeoutError):  # a name look-up that hangs cannot be cancelled; the thread is a daemon
            self.submit(self._wind_up()).result(_CLOSE_SECONDS)
        self.call(self._loop.stop)
        self._thread.join(_CLOSE_SECONDS)
        if not self._thread.is_alive():
            self._loop.close()

    def _run(self) -> None:
        with caused_by(Cause.FETCH):
            self._loop.run_forever()

    async def _wind_up(self) -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()
