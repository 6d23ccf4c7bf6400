"""What a site's ETag and Last-Modified are worth, learnt from its own answers."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from ingest.dates import seconds_between, utc_of
from ingest.urls import host_port
from schemas.changes import ChangeKind, DocumentChange
from schemas.documents import DocumentState, KnownDocument
from schemas.fetch import FetchRequest, FetchResult, FetchStatus

_CODING = re.compile(r"(?:-|--|;)(?:gzip|br|deflate|zstd)\Z")

MAX_REPEATS = 3
"""Answers of 200 with the same bytes, in a row, after which validators are no longer sent."""


def is_conditional(request: FetchRequest) -> bool:
    """Whether validators are sent, so that a 304 is an answer."""
    return request.etag is not None or request.last_modified is not None


def trusts_validators(known: KnownDocument, *, distrusted: Iterable[str]) -> bool:
    """Whether a 304 from this document's host would be believed, and sending validators has ever helped."""
    return known.repeats < MAX_REPEATS and host_of(known.uri) not in distrusted


def after_answer(before: KnownDocument, after: KnownDocument, *, conditional: bool) -> KnownDocument:
    """Count what the look says about the validators; *conditional* tells whether they were sent.

    An answer that says nothing about them (an error, a redirect) leaves the counts as they are.
    """
    if after.state is DocumentState.NOT_MODIFIED:
        return replace(after, unmodified=before.unmodified + 1, repeats=0, denied=False)
    if after.state is not DocumentState.FETCHED:
        return replace(after, denied=False)
    same = before.raw_sha is not None and before.raw_sha == after.raw_sha
    repeats = before.repeats + (1 if conditional else 0) if same else 0
    denied = _came_in_disguise(before, after, conditional=conditional)
    return replace(after, unmodified=0, repeats=repeats, denied=denied)


def needs_proof(
    before: KnownDocument, after: KnownDocument, *, conditional: bool, sampled: bool = False
) -> bool:
    """Whether new bytes came that a 304 may have hidden, and only one more question can tell.

    The page may have changed since the last look; the old validators show it: asked with them, an honest
    host sends 200. *sampled*: they would have been sent now; then an earlier date is as telling as new bytes.
    """
    if after.denied:
        return False
    if sampled:
        is_other = before.raw_sha not in (None, after.raw_sha) or dates_went_back(before, after)
        return after.state is DocumentState.FETCHED and is_other
    return _follows_304s(before, after, conditional=conditional)


class DisbeliefReason(StrEnum):
    """By what a 304 speaks of something else than what is here."""

    ETAG = "ETag"
    SIZE = "size"
    DATE = "date"


def doubt_of(
    request: FetchRequest, result: FetchResult, *, held: int | None = None
) -> DisbeliefReason | None:
    """Say by what a 304 speaks of something else than what is here, if it does.

    *held*: bytes of the body that is here. An equal ETag settles it; a later date is no contradiction, since
    some servers give the time of the answer. Source: RFC 9110, 15.4.5: a 304 has the fields of the 200.
    """
    if result.status is not FetchStatus.NOT_MODIFIED:
        return None
    if request.etag is not None and result.etag is not None and result.etag != request.etag:
        return DisbeliefReason.ETAG if _opaque(result.etag) != _opaque(request.etag) else None
    if held is not None and result.length is not None and result.length != held:
        return DisbeliefReason.SIZE
    told = request.etag is not None and result.told_etag
    older = not told and is_older(result.last_modified, than=request.last_modified)
    return DisbeliefReason.DATE if older else None


def asked_first(doubts: Mapping[str, DisbeliefReason]) -> tuple[str, ...]:
    """Return the doubted documents to ask for first: of those by size alone the first of each host.

    A server may give the size of the compressed body in a 304: then one page shows what the sizes are worth.
    """
    by_host = {host_of(uri): uri for uri in reversed(tuple(doubts)) if doubts[uri] is DisbeliefReason.SIZE}
    trials = frozenset(by_host.values())
    return tuple(uri for uri, doubt in doubts.items() if doubt is not DisbeliefReason.SIZE or uri in trials)


def states_other_sizes(before: KnownDocument, after: KnownDocument) -> bool:
    """Whether bytes that a 304 gave another size for came again: its sizes are those of something else."""
    return after.state is DocumentState.FETCHED and before.raw_sha == after.raw_sha


def dates_went_back(before: KnownDocument, after: KnownDocument) -> bool:
    """Whether the document has an earlier date than before: an older file lies there, which is no lie."""
    return is_older(after.last_modified, than=before.last_modified)


def is_older(date: str | None, *, than: str | None) -> bool:
    """Whether both are dates of HTTP, and the first is the earlier one."""
    earlier, later = utc_of(date), utc_of(than)
    return earlier is not None and later is not None and seconds_between(earlier, later) > 0


def hosts_with_false_304(known: Sequence[KnownDocument], changes: Iterable[DocumentChange]) -> dict[str, str]:
    """Hosts that called other content unmodified, and what showed it; other bytes alone are no lie."""
    changed = {change.uri for change in changes if change.kind is ChangeKind.CHANGED}
    return {
        host_of(document.uri): f"{document.uri} had changed, and its validators were still answered with 304"
        for document in sorted(known, key=lambda document: document.uri, reverse=True)
        if document.denied and document.uri in changed
    }


def _opaque(etag: str) -> str:
    """What an ETag compares by: not whether it is weak, nor how the answer was compressed (Apache, Jetty)."""
    return _CODING.sub("", etag.strip().removeprefix("W/").strip('"'))


def host_of(uri: str) -> str:
    """Name the host and port of a web address."""
    host, port = host_port(uri)
    return f"{host}:{port}"


def _follows_304s(before: KnownDocument, after: KnownDocument, *, conditional: bool) -> bool:
    new_bytes = after.state is DocumentState.FETCHED and before.raw_sha not in (None, after.raw_sha)
    return (
        new_bytes and not conditional and before.unmodified > 0 and bool(before.etag or before.last_modified)
    )


def _came_in_disguise(before: KnownDocument, after: KnownDocument, *, conditional: bool) -> bool:
    """Other bytes under the validators that 304s had been given for."""
    same = (before.etag, before.last_modified) == (after.etag, after.last_modified)
    return same and _follows_304s(before, after, conditional=conditional)
