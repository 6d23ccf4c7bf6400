"""What the interfaces of an index are made over: settings become a retriever and its companions."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from indexes.layout import IndexLayout
from indexes.publish.current import read_current
from indexes.wiring import Readers
from retrieval.learning.query_log import log_queries
from retrieval.live import LiveRetriever, open_retriever
from retrieval.question.policy import read_policy
from retrieval.retriever import RetrievalResult
from runtime.processes.page_images import WITHHELD, draw_apart, stored_bytes
from schemas.coverage import Coverage
from schemas.errors import SitegraphError
from schemas.feed import Feed, FeedEntry
from schemas.nodes import Chunk
from schemas.settings import Settings
from schemas.usage_counts import Interface
from sitegraph.service.guard import RequestLimits
from sitegraph.service.problems import HttpProblem
from sitegraph.service.sources import describe_sources
from sitegraph.service.threads import Threads

if TYPE_CHECKING:
    from indexes.stores.ledger.ledger import Ledger
    from sitegraph.service.viewer.archive import LedgerArchive

_SEVERAL = 2
_DRAWING = 0.6
"""Share of a request's time that drawing a page may take."""


class LogQuestion(Protocol):
    """Keeps in the usage log what was asked and found, with whether an answerer said that it is not there."""

    def __call__(self, result: RetrievalResult, not_found: bool, *, seconds: float | None = None) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What an interface is made over; all of it may be called in several threads.

    `changes` takes since, until and source. `picture` draws the page of a chunk as PNG. `sources` describes
    what the index was made of. `documents` gives the ids of the documents that an address or a document's
    own id means, `last_change` what became of an id that is gone. `generation` is the one readers see.
    `log` writes the usage log; `warn` is for people, on stderr. `archive` is what is not of the generation
    that is read; `coverage` reads the ledger. `source_url` is where the source of this version is, None: it
    is given from here. `folder` is the index folder whose files are given to those who copy it, `seconds` how
    long a reader of one may take no byte.
    """

    retriever: LiveRetriever
    threads: Threads
    changes: Callable[[int, int | None, str | None], Feed]
    picture: Callable[[Readers, Chunk], bytes]
    sources: Callable[[Readers], dict[str, Any]]
    documents: Callable[[str], tuple[str, ...]]
    last_change: Callable[[str], FeedEntry | None]
    generation: Callable[[], int]
    log: LogQuestion
    warn: Callable[[str], None]
    archive: "LedgerArchive"
    coverage: Callable[[], Coverage]
    source_url: str | None = None
    folder: Path | None = None
    seconds: float = RequestLimits().seconds


@contextmanager
def open_parts(
    settings: Settings, limits: RequestLimits, *, door: Interface = Interface.SERVE
) -> Iterator[Parts]:
    """Open an index for an interface; nothing is read before the first question."""
    threads = Threads(
        working=limits.working, waiting=limits.waiting, seconds=limits.seconds, clock=time.monotonic
    )
    with open_retriever(
        Path(settings.index).resolve(),
        environment=settings.environment(),
        clock=time.monotonic,
        cache_mb=settings.reader_cache_mb,
        policy=read_policy(settings.deny),
        coverage=_Ledger(settings).coverage,
    ) as retriever:
        try:
            yield _parts(settings, retriever, threads, door=door, draw_seconds=_DRAWING * limits.seconds)
        finally:
            threads.close()


def _parts(
    settings: Settings, retriever: LiveRetriever, threads: Threads, *, door: Interface, draw_seconds: float
) -> Parts:
    from sitegraph.service.viewer.archive import LedgerArchive

    index, told = Path(settings.index).resolve(), _Ledger(settings)

    def picture(readers: Readers, chunk: Chunk) -> bytes:
        if chunk.page_no is None:
            raise HttpProblem(404, f"{chunk.id} is not on a page of a PDF", "NotFound")
        data = stored_bytes(settings, readers)(chunk.doc)
        if data is None:
            raise HttpProblem(404, f"cannot be drawn: {WITHHELD}", "NotFound")
        return draw_apart(data, chunk)

    def log(result: RetrievalResult, not_found: bool, *, seconds: float | None = None) -> None:
        try:
            log_queries(
                index,
                [result.query],
                timestamp=now(),
                results=[result],
                not_found=not_found,
                door=door,
                seconds=seconds,
            )
        except OSError as error:
            write_stderr(f"sitegraph: warning: the usage log cannot be written: {error}")

    return Parts(
        retriever=retriever,
        threads=threads,
        changes=told.changes,
        picture=picture,
        sources=told.sources,
        documents=told.documents,
        last_change=told.last_change,
        generation=told.generation,
        log=log,
        warn=write_stderr,
        archive=LedgerArchive(settings, now=now, warn=write_stderr, draw_seconds=draw_seconds),
        coverage=told.coverage,
        source_url=settings.source_url,
        folder=index,
    )


@dataclass(frozen=True, slots=True)
class _Ledger:
    """What only the ledger knows, which is opened for each question: few need it."""

    settings: Settings

    @property
    def _layout(self) -> IndexLayout:
        return IndexLayout(Path(self.settings.index).resolve())

    @contextmanager
    def _opened(self) -> Iterator["Ledger"]:
        from indexes.own_ledger import open_own_ledger

        with closing(
            open_own_ledger(self._layout, self.settings.ledger_url, now=now, read_only=True)
        ) as ledger:
            yield ledger

    def changes(self, since: int, until: int | None, source: str | None) -> Feed:
        from indexes.changes import read_changes

        return read_changes(
            self._layout.root, since=since, until=until, source=source, ledger_url=self.settings.ledger_url
        )

    def coverage(self) -> Coverage:
        from indexes.coverage import read_coverage

        return read_coverage(self._layout.root, now=now(), ledger_url=self.settings.ledger_url)

    def last_change(self, id_: str) -> FeedEntry | None:
        from sitegraph.service.viewer.versions import departures

        with self._opened() as ledger:
            line = [one.generation for one in ledger.lineage.of(self.generation())]
            return next(reversed(departures(id_, ledger.lineage.of_id(id_, line))), None)

    def documents(self, name: str) -> tuple[str, ...]:
        """As a citation names it: a URL or the path of a file, which the fragment of a place may follow."""
        from sitegraph.graph_view.start import documents_meant, known_address

        place = known_address(name)
        with self._opened() as ledger:
            known = ledger.lookup.by_doc_id(name) or ledger.lookup.by_uris([place])
            ending = () if known or not place else ledger.lookup.ending_with(place, limit=_SEVERAL)
            if len({document.uri for document in ending}) == 1:  # the end of several means none of them
                known = ending
            return documents_meant(ledger.lookup, known)

    def sources(self, readers: Readers) -> dict[str, Any]:
        from indexes.publish.generation import load_generation

        with self._opened() as ledger:
            held = ledger.leases.describe(now=now())
            found = describe_sources(
                states=ledger.documents.states(),
                rows=load_generation(self._layout, readers.generation).sources,
                runs=ledger.runs.latest_reports(),
                under_way={lease.name for lease in held},
            )
        return {"generation": readers.generation, "as_of": readers.as_of, "sources": found}

    def generation(self) -> int:
        return read_current(self._layout.root)


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
