"""What happened to a document over time, as the ledger remembers it."""

from dataclasses import dataclass
from enum import StrEnum

from schemas.documents import DocumentState


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
