"""What the interfaces of an index are made over: settings become a retriever and its companions."""

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from indexes.layout import IndexLayout
from indexes.publish.current import read_current
from indexes.wiring import Readers
from retrieval.live import LiveRetriever, open_retriever
from retrieval.once import coverage_of, log_usage
from retrieval.question.query import read_policy
from retrieval.retriever import RetrievalResult
from runtime.page_images import WITHHELD, draw_apart, stored_bytes
from schemas.changes import Feed, FeedEntry
from schemas.errors import SitegraphError
from schemas.evidence import Interface
from schemas.health import Coverage
from schemas.nodes import Chunk
from schemas.settings import Settings
from sitegraph.actions.health import describe_sources
from sitegraph.service.guard import RequestLimits
from sitegraph.service.problems import RETRY_SECONDS, HttpProblem
from sitegraph.service.readers import narrow

if TYPE_CHECKING:
    from sitegraph.actions.archive import LedgerArchive

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


_SEVERAL = 2
_DRAWING = 0.6
"""Share of a request's time that drawing a page may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What an interface is made over; all of it may be called in several threads.

    `warn` is for people, on stderr. `archive` is what is not of the generation that is read; the ledger is
    opened for each question, since few need it. `over` gives the parts over another index. `seconds` is how
    long a reader of a file may take no byte.
    """

    settings: Settings
    retriever: LiveRetriever
    threads: Threads
    archive: "LedgerArchive"
    door: Interface
    warn: Callable[[str], None]
    over: "Callable[[Settings], Parts]"
    seconds: float = RequestLimits().seconds

    def narrowed(self, uses: Collection[str]) -> "Parts":
        """Return the parts over what refuses none of *uses*, these for none; raises as `narrow` does."""
        return self.over(narrow(self.settings, uses)) if uses else self

    @property
    def folder(self) -> Path:
        """The index folder, whose files are given to those who copy it."""
        return Path(self.settings.index).resolve()

    @property
    def source_url(self) -> str | None:
        """Where the source of this version is; None: it is given from here."""
        return self.settings.source_url

    def generation(self) -> int:
        """Return the generation that readers see."""
        return read_current(self.folder)

    def picture(self, readers: Readers, chunk: Chunk) -> bytes:
        """Draw the page of a chunk as PNG."""
        return draw_apart(self.pdf_of(readers, chunk), chunk)

    def pdf_of(self, readers: Readers, chunk: Chunk) -> bytes:
        """Return the bytes of the PDF that a chunk stands in.

        Raises: HttpProblem: it stands in none, or the bytes were not kept; what reading them raises.
        """
        if chunk.page_no is None:
            raise HttpProblem(404, f"{chunk.id} is not on a page of a PDF", "NotFound")
        data = stored_bytes(self.settings, readers)(chunk.doc)
        if data is None:
            raise HttpProblem(404, f"cannot be drawn: {WITHHELD}", "NotFound")
        return data

    def log(self, result: RetrievalResult, not_found: bool, *, seconds: float | None = None) -> None:
        """Log what was asked and found, and whether an answerer said that it is not there."""
        log_usage(
            self.folder,
            result,
            door=self.door,
            now=now,
            warn=lambda message: write_stderr(f"sitegraph: warning: {message}"),
            seconds=seconds,
            not_found=not_found,
        )

    def changes(self, since: int, until: int | None, source: str | None) -> Feed:
        """Return what changed from one generation to another."""
        from indexes.changes import read_changes

        url = self.settings.ledger_url
        return read_changes(self.folder, since=since, until=until, source=source, ledger_url=url)

    def coverage(self) -> Coverage:
        """Read what the index may lack."""
        return coverage_of(self.settings, now)

    def last_change(self, id_: str) -> FeedEntry | None:
        """Return what became of an id that is gone."""
        from sitegraph.actions.blame import departures

        with self.archive.opened() as ledger:
            line = [one.generation for one in ledger.lineage.of(self.generation())]
            return next(reversed(departures(id_, ledger.lineage.of_id(id_, line))), None)

    def documents(self, name: str) -> tuple[str, ...]:
        """Return the ids of the documents that a document's own id or an address means.

        As a citation names it: a URL or the path of a file, which the fragment of a place may follow.
        """
        from sitegraph.actions.neighbourhood import documents_meant, known_address

        place = known_address(name)
        with self.archive.opened() as ledger:
            known = ledger.lookup.by_doc_id(name) or ledger.lookup.by_uris([place])
            ending = () if known or not place else ledger.lookup.ending_with(place, limit=_SEVERAL)
            if len({document.uri for document in ending}) == 1:  # the end of several means none of them
                known = ending
            return documents_meant(ledger.lookup, known)

    def sources(self, readers: Readers) -> dict[str, Any]:
        """Describe what the index was made of."""
        from indexes.publish.generation import load_generation

        with self.archive.opened() as ledger:
            held = ledger.leases.describe(now=now())
            found = describe_sources(
                states=ledger.documents.states(),
                rows=load_generation(IndexLayout(self.folder), readers.generation).sources,
                runs=ledger.runs.latest_reports(),
                under_way={lease.name for lease in held},
            )
        return {"generation": readers.generation, "as_of": readers.as_of, "sources": found}


@contextmanager
def open_service_parts(
    settings: Settings, limits: RequestLimits, *, door: Interface = Interface.SERVE
) -> Iterator[Parts]:
    """Open an index, and later what requests narrow it to; nothing is read before the first question."""
    from sitegraph.actions.archive import LedgerArchive

    seconds, opened, lock = limits.seconds, dict[str, Parts](), threading.Lock()
    threads = Threads(working=limits.working, waiting=limits.waiting, seconds=seconds, clock=time.monotonic)

    def over(of: Settings) -> Parts:
        with lock:
            if of.index not in opened:
                opened[of.index] = Parts(
                    settings=of,
                    retriever=stack.enter_context(_open_retriever(of)),
                    threads=threads,
                    archive=LedgerArchive(of, now=now, warn=write_stderr, draw_seconds=_DRAWING * seconds),
                    door=door,
                    warn=write_stderr,
                    over=over,
                )
            return opened[of.index]

    with ExitStack() as stack:
        try:
            yield over(settings)
        finally:
            threads.close()


def _open_retriever(settings: Settings) -> AbstractContextManager[LiveRetriever]:
    return open_retriever(
        Path(settings.index).resolve(),
        environment=settings,
        clock=time.monotonic,
        cache_mb=settings.reader_cache_mb,
        policy=read_policy(settings.deny),
        coverage=partial(coverage_of, settings, now),
    )


def open_ahead(parts: Parts) -> None:
    """Open the index before the first question; what is wrong with it, that question and /readyz are told."""
    with suppress(SitegraphError):
        parts.retriever.read(lambda readers: readers.encoder.encode_query(""))


def write_stderr(line: str) -> None:
    """Write a line to stderr at once, so that lines of several workers do not mix."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def now() -> str:
    """The time as logs have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
