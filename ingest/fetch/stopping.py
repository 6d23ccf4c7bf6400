"""Waiting that can be called off."""

import asyncio
from collections.abc import Sequence
from typing import Any

from ingest.fetch.host import Checkpoint

_STOP_CHECK_SECONDS = 0.2


async def await_unless_stopped(tasks: Sequence[asyncio.Task[Any]], checkpoint: Checkpoint) -> None:
    """Wait for all; with the first error, or when a stop is asked for while hosts wait, end the others.

    Raises: what a task raised; Stopped, from *checkpoint*.
    """
    pending = set(tasks)
    try:
        while pending:
            done, pending = await asyncio.wait(
                pending, timeout=_STOP_CHECK_SECONDS, return_when=asyncio.FIRST_EXCEPTION
            )
            for task in done:
                task.result()
            if pending:
                checkpoint()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
