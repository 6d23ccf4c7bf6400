"""What the ledger knows of a document between runs, and what a run found."""

from dataclasses import dataclass
from enum import StrEnum

from schemas.dates import DateOrigin


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
    in a row to the same `location`. `words` counts those of its chunks, `secrets` those found in the bytes
    under `parsed_sha`, which are not kept if `withheld`.
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
