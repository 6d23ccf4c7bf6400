"""How an index is, as plain data: health, gaps, maintenance, what was searched in vain (docs/asking.md)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from schemas.documents import KnownDocument
from schemas.evidence import Filter


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRun:
    """The run of a source that began last.

    `state` is `finished`, `refused`, `failed`, `stopped`, `running` or `interrupted`; times are ISO 8601 in
    UTC; `report` is the record of docs/reference/run-report.md, or says why the run ended without one.
    """

    state: str
    started_at: str
    finished_at: str | None = None
    report: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceStatus:
    """One source of an index.

    `states` counts documents by state, `due` those whose time to be looked at has come, `failed` the failed
    ones by HTTP status, None where there was no answer. `confirmed` says of what readers see when the source
    last confirmed it, oldest first: pairs of ISO 8601 time in UTC and number of documents. `slo` is the age
    in seconds that content may have, None where the source names none. `rows` counts by table.
    """

    states: Mapping[str, int] = field(default_factory=dict)
    due: int = 0
    failed: Mapping[int | None, int] = field(default_factory=dict)
    confirmed: tuple[tuple[str, int], ...] = ()
    slo: float | None = None
    rows: Mapping[str, int] = field(default_factory=dict)
    last_run: LastRun | None = None
    last_success: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableHealth:
    """A table of the embedded stores at one generation.

    `unindexed_rows` are those that the index which lacks most of them does not contain yet: a search reads
    them one by one. `small_fragments` are files that a compaction would join.
    """

    rows: int
    unindexed_rows: int
    fragments: int
    small_fragments: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexHealth:
    """An index at the generation that readers see; `problem` says why parts of it could not be read.

    `generation` is None where not even that is known. `published_at` is when that generation was made,
    `held_since` when publishing was held, both ISO 8601.
    """

    index: str
    generation: int | None = None
    published_at: str | None = None
    held_since: str | None = None
    sources: Mapping[str, SourceStatus] = field(default_factory=dict)
    tables: Mapping[str, TableHealth] = field(default_factory=dict)
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Documents by source: `due` wait for the next run, `set_aside` failed or are in quarantine.

    `examples` are the first of those that were set aside, each with why. `left_out` counts by source and
    reason those that belong to nobody's reading: out of scope, forbidden by robots.txt, of a format that is
    not read, not found, or beyond a cap.
    """

    due: Mapping[str, int]
    set_aside: Mapping[str, int]
    examples: tuple[KnownDocument, ...]
    left_out: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFigures:
    """A table as the next run builds on it: files, rows in them, of these the deleted; segments of an index.

    `segments` is of the index that has most.
    """

    files: int
    rows: int
    deleted: int
    segments: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """An index before or after maintenance: its tables by name; bytes of their folders, and of the ledger.

    A number of bytes is None where it is not known, as in a bucket or on a server.
    """

    tables: dict[str, TableFigures] = field(default_factory=dict)
    table_bytes: int | None = None
    ledger_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What was read and compared with its hash: files of the tables and documents; and what did not match."""

    files: int = 0
    documents: int = 0
    damage: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceReport:
    """What one maintenance found and did.

    `due` says why it was due, one line each; `skipped` what was left for another time, and why. `swept` is
    how many files that nothing needs were deleted. `steps` are seconds by step.
    """

    id: str
    generation: int
    started_at: str
    dry_run: bool = False
    due: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    before: Figures = Figures()
    after: Figures = Figures()
    swept: int = 0
    sample: Sample = Sample()
    steps: dict[str, float] = field(default_factory=dict)
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedSource:
    """A source that was searched, and how much of it there is in the generation."""

    documents: int
    chunks: int


class Measured(StrEnum):
    """What a near miss is measured by."""

    LOGIT = "logit"
    SCORE = "score"


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """A passage that came near; `value` is what it has of what was measured.

    `outside`: it was found once the filters were left out.
    """

    chunk_id: str
    citation: str
    heading: str
    measured: Measured
    value: float
    outside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """A question that nothing answers.

    `unknown` are its words that stand nowhere in the index, and `spelled` those of the index that are spelled
    like some of them, most like first. `needed` is the logit from which on a passage counts as an answer,
    None where none was asked for. `hidden` is what the ledger says, None where it cannot be read, as in a
    copy.
    """

    generation: int
    as_of: str
    searched: Mapping[str, SearchedSource] = field(default_factory=dict)
    filters: tuple[Filter, ...] = ()
    unknown: tuple[str, ...] = ()
    spelled: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    near: tuple[NearMiss, ...] = ()
    needed: float | None = None
    degraded: tuple[str, ...] = ()
    hidden: Coverage | None = None
