"""What a run did, how its checks went, how fresh sources are. JSON: docs/reference/run-report.md.

The contract of the file of checks is docs/checks.md.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from schemas.completeness import Completeness
from schemas.cost import CostAccount
from schemas.evidence import Filter
from schemas.ids import LATER


class OnFailure(StrEnum):
    """What a run does where a question has lost its evidence."""

    HOLD = "hold"
    REPORT = "report"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A question, and what must come of it.

    `cites` are entries of which each must be among the first `top_k` passages, `states` what must stand in
    them. Where `answered` is False nothing may answer it. `where` is its place in the file.
    """

    id: str
    question: str
    cites: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    answered: bool = True
    top_k: int = 10
    on_failure: OnFailure = OnFailure.HOLD
    filters: tuple[Filter, ...] = ()
    where: str = ""


class Requirement(StrEnum):
    """What a check asks for."""

    CITES = "cites"
    STATES = "states"
    ANSWERED = "answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPassage:
    """What stands somewhere: the words that bear something out, where they stand, and their document."""

    text: str
    citation: str
    doc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFinding:
    """Whether one requirement of a check is met, by which passage, or why not.

    `wanted` is the entry, or the statement. Where a statement is not borne out, `passage` is what comes
    nearest to it.
    """

    requirement: Requirement
    wanted: str
    met: bool
    why: str = ""
    passage: ShownPassage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What came of one check."""

    check: Check
    findings: tuple[CheckFinding, ...]

    @property
    def passed(self) -> bool:
        """Whether all that it asks for is met."""
        return all(one.met for one in self.findings)

    @property
    def failures(self) -> tuple[CheckFinding, ...]:
        """What is not met."""
        return tuple(one for one in self.findings if not one.met)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A requirement that was met before and is no longer, with what stood there and what stands there now."""

    check: str
    question: str
    on_failure: OnFailure
    requirement: Requirement
    wanted: str
    why: str
    before: ShownPassage | None = None
    after: ShownPassage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCounts:
    """How many questions were asked before publishing, answered as they must be, and lost their evidence.

    `held`: publishing was refused over it.
    """

    asked: int = 0
    passed: int = 0
    lost: int = 0
    held: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRecord:
    """What the last run that asked found: of the staged `generation`, against its `base`."""

    source: str
    run_id: str
    generation: int
    base: int
    as_of: str
    counts: CheckCounts
    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshnessState:
    """How fresh a source is: `slo` and `age` in seconds; `as_of`: the end of its last good run (ISO 8601).

    `stale`: older than `slo`, or never read; false without an `slo`.
    """

    slo: float | None = None
    as_of: str | None = None
    age: float | None = None
    stale: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginState:
    """When the login of a source ends (ISO 8601, UTC), where a cookie says so, and whether that is soon."""

    expires_at: str | None = None
    expires_soon: bool = False


def judge_freshness(slo: float | None, *, as_of: str | None, now: datetime) -> FreshnessState:
    """Compare the age of what readers see with what is promised.

    Age is counted from the end of the last run that ended well, whether it changed anything or not.
    """
    age = None if as_of is None else max((now - datetime.fromisoformat(as_of)).total_seconds(), 0.0)
    stale = slo is not None and (age is None or age > slo)
    return FreshnessState(slo=slo, as_of=as_of, age=age, stale=stale)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A document that could not be used, and why; the run went on.

    `left_out` are the documents that a limit of the source kept out, where that is the reason.
    """

    url: str
    reason: str
    left_out: int = field(default=0, metadata=LATER)


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
    asked before publishing. `login` is when the login ends. `completeness` is of the source after the run.
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
    login: LoginState = field(default_factory=LoginState)
    completeness: Completeness = field(default_factory=Completeness)
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
