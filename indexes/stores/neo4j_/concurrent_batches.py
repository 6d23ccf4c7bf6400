"""Batches of rows written by several transactions at once, with the effect of one after the other."""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from schemas.causes import caused_by
from schemas.cost import Cause

T = TypeVar("T")

WRITERS = 2
"""Transactions at once. Two write twice as many rows a second as one, three fewer than two (two cores)."""


@dataclass(frozen=True, slots=True)
class _Begun:
    """A batch that is being written, or waits for a writer, by the ids of its rows."""

    ids: frozenset[str]
    writing: Future[None]


def write_batches(
    batches: Iterable[list[T]], write: Callable[[list[T]], None], *, key: Callable[[T], str]
) -> None:
    """Write every batch; one with an id of another that is not done yet waits for that one.

    The first error of a batch is raised once those that were begun are done; no other is begun then.

    Args: write: writes one batch, and is called from several threads; key: the id of a row.
    """
    begun: deque[_Begun] = deque()
    with ThreadPoolExecutor(WRITERS, thread_name_prefix="neo4j") as threads:
        try:
            for batch in batches:
                ids = frozenset(map(key, batch))
                # One more than there are writers, so that none waits for the next to be made.
                while len(begun) > WRITERS or not all(ids.isdisjoint(other.ids) for other in begun):
                    begun.popleft().writing.result()
                begun.append(_Begun(ids, threads.submit(_write, write, batch)))
            while begun:
                begun.popleft().writing.result()
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            raise


def _write(write: Callable[[list[T]], None], batch: list[T]) -> None:
    with caused_by(Cause.WRITE):
        write(batch)
