"""What one run did. The JSON contract is docs/reference/run-report.md."""

from collections import Counter
from dataclasses import dataclass, field

from schemas.checks import CheckCounts
from schemas.cost import CostAccount
from schemas.freshness import FreshnessState


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A document that could not be used, and why; the run went on."""

    url: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkCounts:
    """Chunks of the source against the generation before; `embedded` counts texts newly encoded."""

    added: int = 0
    removed: int = 0
    unchanged: int = 0
    embedded: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpTotals:
    """Requests made, answers by status, bytes received (robots.txt and sitemaps included)."""

    requests: int = 0
    status: dict[str, int] = field(default_factory=dict)
    bytes: int = 0

    def __sub__(self, other: "HttpTotals") -> "HttpTotals":
        return HttpTotals(
            requests=self.requests - other.requests,
            status=dict(Counter(self.status) - Counter(other.status)),
            bytes=self.bytes - other.bytes,
        )

    def __add__(self, other: "HttpTotals") -> "HttpTotals":
        return HttpTotals(
            requests=self.requests + other.requests,
            status=dict(sorted((Counter(self.status) + Counter(other.status)).items())),
            bytes=self.bytes + other.bytes,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakRss:
    """Peak resident memory in MiB: the flow's process, its largest child, and both together."""

    flow: float
    largest_child: float
    sum: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCounts:
    """Pages of PDFs: read, of these recognised on their picture, and taken over from an earlier version."""

    read: int = 0
    recognised: int = 0
    reused: int = 0

    def __sub__(self, other: "PageCounts") -> "PageCounts":
        return PageCounts(
            read=self.read - other.read,
            recognised=self.recognised - other.recognised,
            reused=self.reused - other.reused,
        )

    def __add__(self, other: "PageCounts") -> "PageCounts":
        return PageCounts(
            read=self.read + other.read,
            recognised=self.recognised + other.recognised,
            reused=self.reused + other.reused,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingCounts:
    """Documents that answered 404 and whose last version readers go on seeing.

    `until` is when another look may confirm that all of them are gone (ISO 8601, UTC).
    """

    documents: int = 0
    until: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretCounts:
    """Secrets in the source's documents: values that were redacted, and documents that contain any."""

    values: int = 0
    documents: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarCounts:
    """Passages compared with all others: new ones, and others that had lost the neighbours kept in reserve.

    `near_duplicates` are the `similar_to` edges of the whole index between chunks that say nearly the same.
    """

    searched: int = 0
    searched_again: int = 0
    near_duplicates: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NameCounts:
    """Names that make no edge: `labels` of the whole index are names of too many things to mean one of them,
    and `unclear` are the texts this run read that could mean several things, each once a document. `dropped`
    are names and statements of a language model that do not stand in the text it was given.
    """

    labels: int = 0
    unclear: int = 0
    dropped: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """One run of one source. `generation` is None when nothing changed.

    In `documents` the outcomes add up to `scheduled`; `fetched` and `not_modified` say how the
    documents were looked at. `nodes` and `edges` are what the source contains afterwards, by kind, and the
    entities are those of the whole index, since they belong to no source; `secrets` are the values that
    were redacted in it, and how many documents had any. `pdf_pages` are those of the PDFs
    that this process parsed. `freshness` is how fresh the source was until this run: `as_of` is None at the
    first. `cost` is empty in reports of versions that measured none. `checks` are the questions that were
    asked before publishing.
    """

    source: str
    run_id: str
    generation: int | None
    published: bool
    documents: dict[str, int]
    chunks: ChunkCounts
    nodes: dict[str, int]
    edges: dict[str, int]
    http: HttpTotals
    stages: dict[str, float]
    peak_rss_mb: PeakRss
    missing: MissingCounts = MissingCounts()
    secrets: SecretCounts = SecretCounts()
    similar: SimilarCounts = SimilarCounts()
    names: NameCounts = NameCounts()
    pdf_pages: PageCounts = PageCounts()
    freshness: FreshnessState = field(default_factory=FreshnessState)
    cost: CostAccount = field(default_factory=CostAccount)
    checks: CheckCounts = field(default_factory=CheckCounts)
    guard: str | None = None
    problems: tuple[Problem, ...] = ()


def headline(report: RunReport) -> str:
    """Say in one line what a run came to: its generation, its outcomes, how many problems."""
    verdict = f"generation {report.generation} published" if report.published else "nothing changed"
    looks = ("scheduled", "fetched", "not_modified")
    counts = [f"{n} {name}" for name, n in report.documents.items() if n and name not in looks]
    problems = len(report.problems)
    noted = ["1 problem" if problems == 1 else f"{problems} problems"] if problems else []
    return f"{report.source}: {'; '.join([', '.join([verdict, *counts]), *noted])}"
