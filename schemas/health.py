"""How an index is, as plain data: what metrics are made of (docs/reference/metrics.md)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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
