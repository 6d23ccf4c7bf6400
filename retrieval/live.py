"""For programs that live long: a retriever that follows its index, and its async twin.

What a service, a bot or a notebook holds. `docs/how-to/embed-in-a-service.md` shows it at work.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from indexes.following import GRAPH, FollowedIndex
from indexes.wiring import Readers
from retrieval.as_of import find_generation
from retrieval.evidence import build_retriever, find_evidence
from retrieval.question.query import ALLOW_ALL, Policy
from retrieval.retriever import RetrievalResult, Retriever
from schemas.errors import StoreUnavailable
from schemas.evidence import ContextBundle, Query
from schemas.health import Coverage
from schemas.settings import Settings, as_settings

CACHE_MB = 1536
THREADS = 4

T = TypeVar("T")


class LiveRetriever:
    """Answers each query from one generation: the one that is current when it is asked.

    Threads may share it, and any number of processes may have one of their own on the same index.
    """

    def __init__(
        self,
        index: FollowedIndex,
        *,
        policy: Policy = ALLOW_ALL,
        coverage: Callable[[], Coverage] | None = None,
    ) -> None:
        self._index = index
        self._policy, self._coverage = policy, coverage
        self._newest: _Opened | None = None

    def retrieve(self, query: Query, *, as_of: str | int | None = None) -> ContextBundle:
        """Return the evidence for *query*, as `find_evidence` does."""
        return self.walk(query, as_of=as_of).bundle

    def walk(self, query: Query, *, as_of: str | int | None = None) -> RetrievalResult:
        """Return the evidence for *query* and all that it was chosen from, as `find_evidence` does."""
        return self.read(lambda readers: self.walk_over(readers, query), as_of=as_of)

    def read(self, ask: Callable[[Readers], T], *, as_of: str | int | None = None) -> T:
        """Call *ask* with readers of the current generation; once more if theirs was pruned meanwhile.

        Args: as_of: the number of a generation that is kept, or a month, day or time: read as it was then.
        Raises: what *ask* raises; ConfigError: no index there, or nothing of *as_of*; StoreUnavailable: it
        cannot be read.
        """
        if as_of is not None:
            with self._index.readers_at(find_generation(self._index.root, as_of)) as earlier:
                return ask(earlier)
        readers = self._index.readers()
        try:
            return ask(readers)
        except StoreUnavailable:
            renewed = self._index.renew(readers)
            if renewed is None:
                raise
        return ask(renewed)

    def walk_over(self, readers: Readers, query: Query, *, judge: bool = True) -> RetrievalResult:
        """Return what `walk` does, over *readers* that `read` hands out; *judge* as in `find_evidence`."""
        walk = find_evidence(readers, self._over(readers), query, coverage=self._coverage, judge=judge)
        if GRAPH in walk.bundle.degraded and GRAPH not in readers.degraded:
            self._index.leave_graph(readers)
        return walk

    def _over(self, readers: Readers) -> Retriever:
        newest = self._newest
        if newest is not None and readers.generation < newest.readers.generation:
            return build_retriever(readers, policy=self._policy)
        if newest is None or newest.readers is not readers:
            newest = self._newest = _Opened(readers, build_retriever(readers, policy=self._policy))
        return newest.retriever


@dataclass(frozen=True, slots=True)
class _Opened:
    readers: Readers
    retriever: Retriever


@contextmanager
def open_retriever(
    index: Path,
    *,
    environment: Mapping[str, str] | Settings,
    clock: Callable[[], float],
    cache_mb: int = CACHE_MB,
    policy: Policy = ALLOW_ALL,
    coverage: Callable[[], Coverage] | None = None,
) -> Iterator[LiveRetriever]:
    """Open an index to be asked again and again; nothing is read before the first query.

    Args: environment: settings, or the variables that they are read from. clock: monotonic seconds. cache_mb:
    what the stores may keep in memory between queries. policy: says which questions are refused
    (`QueryRefused`). coverage: reads from the ledger what the index may lack, for questions that nothing
    answers.
    """
    followed = FollowedIndex(index, settings=as_settings(environment), cache_mb=cache_mb, clock=clock)
    try:
        yield LiveRetriever(followed, policy=policy, coverage=coverage)
    finally:
        followed.close()


class AsyncRetriever:
    """A `LiveRetriever` for event loops: what waits, waits in a thread."""

    def __init__(self, retriever: LiveRetriever, threads: ThreadPoolExecutor) -> None:
        self._retriever = retriever
        self._threads = threads

    async def retrieve(self, query: Query) -> ContextBundle:
        """Return the evidence for *query*; what a thread has begun runs to its end, also if cancelled."""
        return await asyncio.wrap_future(self._threads.submit(self._retriever.retrieve, query))


@asynccontextmanager
async def open_async_retriever(
    index: Path,
    *,
    environment: Mapping[str, str] | Settings,
    clock: Callable[[], float],
    cache_mb: int = CACHE_MB,
    threads: int = THREADS,
    policy: Policy = ALLOW_ALL,
) -> AsyncIterator[AsyncRetriever]:
    """Open as `open_retriever` does; at most *threads* queries are worked at a time, the rest wait."""
    with open_retriever(
        index, environment=environment, clock=clock, cache_mb=cache_mb, policy=policy
    ) as retriever:
        pool = ThreadPoolExecutor(threads, thread_name_prefix="retrieve")
        try:
            yield AsyncRetriever(retriever, pool)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
