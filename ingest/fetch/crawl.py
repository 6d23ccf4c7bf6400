"""A wave of documents: hosts side by side, each host at its own pace."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from ingest.fetch.client import FetchSession, host_key
from ingest.fetch.document import fetch_document, is_fetchable
from ingest.fetch.host import Checkpoint, build_checkpoint
from schemas.fetch import FetchRequest, FetchResult

_STOP_CHECK_SECONDS = 0.2


def fetch_all(
    requests: Sequence[FetchRequest],
    *,
    session: FetchSession,
    on_result: Callable[[FetchResult], None],
    should_stop: Callable[[], bool],
) -> None:
    """Fetch every document, telling *on_result* of each as it completes, in this thread.

    Each gets exactly one result, unless *should_stop* (asked before every request, and while waiting)
    says so: then what is under way is dropped without a result and stays due.
    Raises: Stopped: *should_stop* said so.
    """
    session.run(_crawl(requests, session, on_result, should_stop))


async def _crawl(
    requests: Sequence[FetchRequest],
    session: FetchSession,
    on_result: Callable[[FetchResult], None],
    should_stop: Callable[[], bool],
) -> None:
    checkpoint = build_checkpoint(should_stop)
    tasks = [
        asyncio.ensure_future(_drain(queue, session, on_result, checkpoint))
        for queue in _by_host(requests)
        for _ in range(min(session.concurrency, len(queue)))
    ]
    try:
        await _supervise(tasks, checkpoint)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _supervise(tasks: list[asyncio.Task[None]], checkpoint: Checkpoint) -> None:
    """Wait for all; end early with the first error, or when a stop is asked for while hosts wait."""
    pending = set(tasks)
    while pending:
        done, pending = await asyncio.wait(
            pending, timeout=_STOP_CHECK_SECONDS, return_when=asyncio.FIRST_EXCEPTION
        )
        for task in done:
            task.result()
        if pending:
            checkpoint()


async def _drain(
    queue: deque[FetchRequest],
    session: FetchSession,
    on_result: Callable[[FetchResult], None],
    checkpoint: Checkpoint,
) -> None:
    while queue:
        on_result(await fetch_document(queue.popleft(), session=session, checkpoint=checkpoint))


def _by_host(requests: Sequence[FetchRequest]) -> list[deque[FetchRequest]]:
    hosts: dict[str, deque[FetchRequest]] = {}
    for request in requests:
        # What cannot be fetched is refused without asking anyone; any queue will do for it.
        key = host_key(request.url) if is_fetchable(request.url) else ""
        hosts.setdefault(key, deque()).append(request)
    return list(hosts.values())
