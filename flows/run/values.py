"""What passes between the stages of a run: names, ids, counts and batches, never rows or documents.

Every value is a frozen dataclass of plain data, so that a stage may run in another process. What is larger
lies in a store, under its hash.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ingest.diff.rows import Observed
from schemas.changes import DocumentChange
from schemas.cost import Spent
from schemas.report import HttpTotals, PageCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Names a run, and says what its stages may do; all that a process needs to take part in it.

    `index` is the folder of the index, `source_file` where the source was read from. `accept`: publish
    although a guard objects. `model`: the encoder that the run was told to use. `may_change_model`: encode
    with another model than that of the vectors readers see. `repair`: compare everything that readers see
    with its hashes first. `token` is that of the lease under which workers of other processes take part, 0 in
    the process that opened the run; `pipeline_version` is what they have to agree with.
    """

    index: str
    source: str
    run_id: str
    source_file: str = ""
    accept: bool = False
    model: str | None = None
    may_change_model: bool = False
    repair: bool = False
    token: int = 0
    # None and not an empty text: of that there is one in a process, and Prefect knows results by address.
    pipeline_version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Documents of one shard that are fetched, then parsed, together.

    `sampled` are those of them that are asked for without conditions, to see whether the others can be asked
    with them.
    """

    shard: str
    number: int
    uris: tuple[str, ...]
    sampled: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What task runs of the batch are called."""
        return f"{self.shard}-{self.number}"

    @property
    def told(self) -> str:
        """Its name, and how much it is."""
        return f"{self.name}, {documents_in_words(len(self.uris))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawled:
    """What a crawl did, in a stage or in all: texts handed to the encoder, requests, pages of PDFs, and the
    largest child process, in MiB.
    """

    texts: int = 0
    http: HttpTotals = field(default_factory=HttpTotals)
    pages: PageCounts = field(default_factory=PageCounts)
    peak_child_mb: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned(Crawled):
    """How many documents the ledger knows, and what finding them out cost."""

    documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlWave:
    """Batches of documents that the run has not looked at yet; none when nothing is left."""

    number: int
    batches: tuple[Batch, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedBatch(Crawled):
    """How many documents of a batch were looked at, and the requests.

    `spent` is what a worker spent since it last told, by cause; nothing in the process of the run.
    """

    documents: int
    spent: dict[str, Spent] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedBatch(Crawled):
    """How many documents were parsed; `spent` is as of a `FetchedBatch`."""

    documents: int
    spent: dict[str, Spent] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined(Crawled):
    """How many documents the source has after bad and repeated ones were put aside, and the requests."""

    documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """What is to be written again after damage (`rebuild_stores.Repair`); what recovery published."""

    repair: str
    published: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What a run found, against the generation that readers see.

    `observed` are the times of chunks whose rows are written again, by id.
    """

    base: int
    changes: tuple[DocumentChange, ...]
    documents: dict[str, int]
    live: int = 0
    guard: str | None = None
    observed: Mapping[str, Observed] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSource:
    """What a run found against the generation *base*, and what follows from it.

    `difference` is where the documents that change lie, by hash; None where no generation is to be made.
    `documents` is how many change, `counts` what came of all, `live` how many readers see of the source,
    `guard` what a guard objected to and was accepted. `fragments` are hashes of the documents to embed.
    """

    base: int
    difference: str | None = None
    documents: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    live: int = 0
    guard: str | None = None
    fragments: tuple[str, ...] = ()
    as_of: str = ""

    @property
    def told(self) -> str:
        """How many documents change."""
        return documents_in_words(self.documents)

    @property
    def to_embed(self) -> str:
        """How many documents are to be embedded."""
        return documents_in_words(len(self.fragments))


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """How many texts of some documents had no vector before; `spent` is as of a `FetchedBatch`."""

    texts: int
    spent: dict[str, Spent] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """Where the planned rows of a generation lie, by hash, and how many chunks come and go.

    `seconds_waited` for the encoder.
    """

    rows: str
    chunks_added: int
    chunks_removed: int
    seconds_waited: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """The number of a generation whose plan is fixed."""

    generation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """The number of the generation that readers see now."""

    generation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """How many files went that nothing needs any more."""

    files: int


def documents_in_words(number: int) -> str:
    """Write a number of documents as people do."""
    return "1 document" if number == 1 else f"{number} documents"


def sum_crawl(parts: Iterable[Crawled]) -> Crawled:
    """Add up what the stages of a crawl say they did."""
    total = Crawled()
    for part in parts:
        total = Crawled(
            texts=total.texts + part.texts,
            http=total.http + part.http,
            pages=total.pages + part.pages,
            peak_child_mb=max(total.peak_child_mb, part.peak_child_mb),
        )
    return total


TASKS_AT_ONCE = 4
"""Threads of a run's own process that fetch, parse or embed."""

DOCUMENTS_PER_EMBEDDING = 2_000
"""Documents that are embedded as one part: enough for batches of texts of like length."""
