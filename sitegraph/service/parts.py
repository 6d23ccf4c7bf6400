"""What the interface is made over."""

from collections.abc import Callable
from dataclasses import dataclass

from indexes.wiring import Readers
from retrieval.live import LiveRetriever
from retrieval.retriever import RetrievalResult
from schemas.coverage import Coverage
from schemas.feed import Feed
from schemas.nodes import Chunk
from sitegraph.service.threads import Threads
from sitegraph.service.viewer.archive import Archive


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the interface is made over; all of it may be called in several threads.

    `changes` takes since, until and source. `picture` draws the page of a chunk as PNG. `log` keeps
    what was asked and found in the usage log, with whether an answerer said that the answer is not in it;
    `warn` is for people, on stderr. `archive` is what is not of the generation that is read; `coverage` reads
    the ledger. `source_url` is where the source of this version is, None: it is given from here.
    """

    retriever: LiveRetriever
    threads: Threads
    changes: Callable[[int, int | None, str | None], Feed]
    picture: Callable[[Readers, Chunk], bytes]
    log: Callable[[RetrievalResult, bool], None]
    warn: Callable[[str], None]
    archive: Archive
    coverage: Callable[[], Coverage]
    source_url: str | None = None
