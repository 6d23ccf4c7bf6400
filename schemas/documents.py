"""What the ledger knows of documents and generations between runs, and what a run found."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from schemas.nodes import DateOrigin


class DocumentState(StrEnum):
    """Where a document stands; docs/rules/recrawl.md draws the transitions."""

    NEW = "new"
    FETCHED = "fetched"
    NOT_MODIFIED = "not_modified"
    REDIRECTED = "redirected"
    DUPLICATE = "duplicate"
    MISSING = "missing"
    GONE = "gone"
    OUT_OF_SCOPE = "out_of_scope"
    QUARANTINED = "quarantined"
    FAILED = "failed"
    DISALLOWED = "disallowed"
    UNSUPPORTED = "unsupported"


class Outcome(StrEnum):
    """What one run made of one scheduled document; the outcomes add up to `scheduled`."""

    ADDED = "added"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    MOVED = "moved"
    REDIRECTED = "redirected"
    DUPLICATE = "duplicate"
    MISSING = "missing"
    GONE = "gone"
    DEAD_LINK = "dead_link"
    OUT_OF_SCOPE = "out_of_scope"
    QUARANTINED = "quarantined"
    FAILED = "failed"
    DISALLOWED = "disallowed"


NOWHERE = frozenset({DocumentState.MISSING, DocumentState.GONE})
"""States of a document that was not found. Where nothing was ever found there, it is a dead link."""

READABLE = frozenset({DocumentState.FETCHED, DocumentState.NOT_MODIFIED})
"""States in which the document's content is known to be current."""

COMPARED = READABLE | {DocumentState.DUPLICATE}
"""States in which the content is read by the newest parser, to be shown or to be told from another's."""

REMOVED = frozenset(
    {DocumentState.GONE, DocumentState.OUT_OF_SCOPE, DocumentState.REDIRECTED, DocumentState.DUPLICATE}
)
"""States that take a document out of the next generation; all others keep the last good version."""


ASLEEP = frozenset({DocumentState.GONE, DocumentState.OUT_OF_SCOPE})
"""States in which a document is only looked at again when something revives it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownDocument:
    """One ledger row. Times are ISO 8601 in UTC, `interval` is in seconds.

    `last_modified` is the header as the server sent it, to be sent back. `fetched_modified` is when the bytes
    were last changed as the fetch told it, `stated_modified` what the document says of itself; the origin of
    each is beside it.

    `run_id` is the run that last looked at it; `fragment_sha` belongs to `raw_sha` under
    `pipeline_version`; `location` is where a redirect led, `canonical` the other address
    the page names as its own; `refresh` is where a page leads that is no more than a meta refresh;
    `lastmod` is what the sitemap claims now, `lastmod_then` what it claimed at
    the last look, `lastmod_held` whether its last claim was true; `depth` counts links from a seed,
    `hops` redirects since the last link. `unmodified` counts 304s since the bytes came, `repeats`
    answers of 200 in a row that brought the same bytes although validators were sent; `denied`:
    the bytes are new, and the site had called them unmodified. `moves` counts permanent redirects
    in a row to the same `location`. `misses` counts 404s in a row, or looks in a row at a text that is held
    since it says something else than before, and `missed_at` is the first of them. `words` counts those of
    its chunks, `secrets` those found in the bytes under `parsed_sha`, which are not kept if `withheld`.
    """

    source: str
    uri: str
    state: DocumentState = DocumentState.NEW
    depth: int = 0
    hops: int = 0
    found_by: str | None = None
    doc: str | None = None
    doc_id: str | None = None
    title: str = ""
    words: int | None = None
    secrets: int = 0
    withheld: bool = False
    content_type: str | None = None
    x_robots_tag: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    fetched_modified: str | None = None
    fetched_origin: DateOrigin | None = None
    stated_modified: str | None = None
    stated_origin: DateOrigin | None = None
    raw_sha: str | None = None
    parsed_sha: str | None = None
    fragment_sha: str | None = None
    content_hash: str | None = None
    pipeline_version: str | None = None
    http_status: int | None = None
    location: str | None = None
    canonical: str | None = None
    refresh: str | None = None
    lastmod: str | None = None
    lastmod_then: str | None = None
    lastmod_held: bool | None = None
    failures: int = 0
    misses: int = 0
    missed_at: str | None = None
    unmodified: int = 0
    repeats: int = 0
    denied: bool = False
    moves: int = 0
    interval: float | None = None
    next_due: str | None = None
    fetched_at: str | None = None
    checked_at: str | None = None
    run_id: str | None = None
    reason: str = ""

    @property
    def is_withheld(self) -> bool:
        """Whether its last bytes have been read and, for the secrets in them, not been kept."""
        return self.withheld and self.parsed_sha is not None and self.parsed_sha == self.raw_sha


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftError:
    """Why a document that came with 200 seems to stand in for content; *sure* if the page alone tells.

    One that is not sure is bad only where something else points the same way: good content was there before,
    or the host answers the same to an address that nobody has.
    """

    reason: str
    sure: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveDocument:
    """A document as one generation contains it; `stale` and `aliases` are its node's.

    `fragment_sha` is empty where a lost ledger left it unknown. `last_modified` is ISO 8601 in UTC.
    """

    doc: str
    source: str
    uri: str
    fragment_sha: str
    content_hash: str
    doc_id: str | None = None
    fetched_at: str | None = None
    last_modified: str | None = None
    last_modified_origin: DateOrigin | None = None
    stale: bool = False
    aliases: tuple[str, ...] = ()


class HistoryEvent(StrEnum):
    """What an entry tells of."""

    FOUND = "found"  # the document became known
    LOOKED = "looked"  # it was asked for, or read from disk
    PARSED = "parsed"  # its content became another
    STATE = "state"  # another state without a look, as by a changed scope


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchAttempt:
    """What the row of a document does not say of the last look at it.

    `bytes` of the body as received, over all tries. `conditional`: validators were sent with the request.
    `earlier` are the attempts of the same look before it: a 304 that was not believed, or new bytes that the
    old validators were to prove. What is None is as the row has it.
    """

    conditional: bool
    bytes: int
    state: DocumentState | None = None
    http_status: int | None = None
    raw_sha: str | None = None
    reason: str | None = None
    earlier: "tuple[FetchAttempt, ...]" = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One event, and how often it came in a row: a page that answers 304 for a year is one entry.

    `at` is the first time and `until` the last, `run_id` the run of the last. `conditional` and `bytes`
    are None where nothing was asked.
    """

    source: str
    uri: str
    seq: int
    event: HistoryEvent
    to_state: DocumentState
    from_state: DocumentState | None = None
    at: str | None = None
    until: str | None = None
    times: int = 1
    run_id: str | None = None
    http_status: int | None = None
    reason: str = ""
    location: str | None = None
    conditional: bool | None = None
    bytes: int | None = None
    raw_sha: str | None = None
    content_hash: str | None = None


RUNNING, INTERRUPTED = "running", "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ancestor:
    """A generation that readers see or saw on the way; `changes_kept`: what it changed is still known."""

    generation: int
    base: int
    as_of: str
    source: str
    run_id: str
    changes_kept: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A run as the ledger tells of it: `running` until it is finished or refused, its report as JSON."""

    run_id: str
    source: str
    state: str
    started_at: str
    finished_at: str | None
    report: Mapping[str, Any] | None


def state_of_run(state: str, *, under_way: bool) -> str:
    """Return the state of a run as its row has it; one that nobody goes on with is INTERRUPTED."""
    return INTERRUPTED if state == RUNNING and not under_way else state


def reason_of_run(state: str, report: Mapping[str, Any] | None, *, under_way: bool) -> str | None:
    """Return why a run ended as it did; None while it goes on, whatever stopped it before."""
    return None if state == RUNNING and under_way else (report or {}).get("reason")
