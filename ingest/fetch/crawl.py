"""A wave of documents: hosts side by side, each host at its own pace."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from queue import SimpleQueue

from ingest.fetch.client import FetchSession, host_key
from ingest.fetch.document import fetch_document, is_fetchable
from ingest.fetch.host import Checkpoint, build_checkpoint
from ingest.fetch.stopping import await_unless_stopped
from schemas.fetch import FetchRequest, FetchResult

_WINDOW = 32
"""Results that may wait for the caller; beyond that, fetching waits for it, or bodies would pile up."""


def fetch_all(
    requests: Sequence[FetchRequest],
    *,
    session: FetchSession,
    on_result: Callable[[FetchResult], None],
    should_stop: Callable[[], bool],
) -> None:
    """Fetch every document, telling *on_result* of each as it completes, in the caller's thread.

    Each gets exactly one result, unless *should_stop* (asked before every request, and while waiting; in
    another thread) says so: then what is under way is dropped without a result and stays due.
    Several threads may call this at once with one session.
    Raises: Stopped: *should_stop* said so; whatever *on_result* raises, which ends the wave.
    """
    wave = _Wave(session, build_checkpoint(should_stop))
    future = session.loop.submit(wave.run(requests))
    future.add_done_callback(lambda _: wave.results.put(None))
    try:
        while (result := wave.results.get()) is not None:
            on_result(result)
            session.loop.call(wave.window.release)
        future.result()
    finally:
        future.cancel()


class _Wave:
    """The loop's side of one call of `fetch_all`; a None among the results is their end."""

    def __init__(self, session: FetchSession, checkpoint: Checkpoint) -> None:
        self.results: SimpleQueue[FetchResult | None] = SimpleQueue()
        self.window = asyncio.Semaphore(_WINDOW)
        self._session = session
        self._checkpoint = checkpoint

    async def run(self, requests: Sequence[FetchRequest]) -> None:
        tasks = [
            asyncio.ensure_future(self._drain(queue))
            for queue in _by_host(requests)
            for _ in range(min(self._session.concurrency, len(queue)))
        ]
        await await_unless_stopped(tasks, self._checkpoint)

    async def _drain(self, queue: deque[FetchRequest]) -> None:
        while queue:
            result = await fetch_document(queue.popleft(), session=self._session, checkpoint=self._checkpoint)
            await self.window.acquire()
            self.results.put(result)


def _by_host(requests: Sequence[FetchRequest]) -> list[deque[FetchRequest]]:
    hosts: dict[str, deque[FetchRequest]] = {}
    for request in requests:
        # What cannot be fetched is refused without asking anyone; any queue will do for it.
        key = host_key(request.url) if is_fetchable(request.url) else ""
        hosts.setdefault(key, deque()).append(request)
    return list(hosts.values())
