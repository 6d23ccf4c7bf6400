"""One document: may we, ask, and say what came of it."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial

from ingest.dates import dated, seconds_between, utc_of
from ingest.fetch.client import FetchSession
from ingest.fetch.faults import FetchFault, FetchFaultKind
from ingest.fetch.host import Checkpoint
from ingest.fetch.media import judge_document
from ingest.fetch.redirects import PERMANENT, REDIRECTS, redirect_target
from ingest.fetch.rendering import render_page
from ingest.fetch.transport import HttpResponse, Tally
from ingest.urls import canonical_url, refresh_place, registrable_domain
from schemas.dates import Dated, DateOrigin
from schemas.fetch import FetchRequest, FetchResult, FetchStatus

_MADE_FOR_IT = 2.0
"""Seconds before its answer within which a server makes a page."""

_LINK = re.compile(r"<([^<>]{1,2048})>([^<>]{0,500})")
_CANONICAL = re.compile(r";\s*rel\s*=\s*(?:\"[^\"]*\bcanonical\b|canonical\b)", re.IGNORECASE)
_BY_STATUS = {404: FetchStatus.NOT_FOUND, 410: FetchStatus.GONE}


async def fetch_document(
    request: FetchRequest, *, session: FetchSession, checkpoint: Checkpoint
) -> FetchResult:
    """Fetch one document; a fault becomes a result. Raises: Stopped, from *checkpoint*."""
    started = session.clock.monotonic()
    tally = Tally()
    try:
        result = await _fetch(request, session, checkpoint, tally)
    except FetchFault as fault:
        result = _fault_result(request, fault, last_status=tally.statuses[-1] if tally.statuses else None)
    return replace(
        result,
        requests=tally.requests,
        bytes=tally.bytes,
        statuses=tuple(tally.statuses),
        seconds=session.clock.monotonic() - started,
    )


@lru_cache(maxsize=1024)
def is_fetchable(url: str) -> bool:
    """Whether *url* is a canonical http(s) URL; nothing else is ever asked for.

    Remembered, since a wave asks before it sorts by host, and again before it fetches.
    """
    return url.startswith(("http://", "https://")) and canonical_url(url) == url


async def _fetch(
    request: FetchRequest, session: FetchSession, checkpoint: Checkpoint, tally: Tally
) -> FetchResult:
    url = request.url
    if not is_fetchable(url):
        raise FetchFault(FetchFaultKind.POLICY, "not a canonical http(s) URL")
    policy = await session.robots_policy(url, checkpoint)
    if policy.fault is not None:
        raise _unreachable(policy.fault)
    if not policy.rules.allows(url):
        return _result(url, FetchStatus.DISALLOWED, reason="robots.txt disallows it")
    answer = await session.host(url).ask(
        url,
        judge=partial(judge_document, url=url, formats=session.formats, limits=session.limits),
        tally=tally,
        checkpoint=checkpoint,
        # A script's page may be another behind the same shell: a 304 would say nothing.
        validators={} if session.browser is not None else _validators(request),
    )
    result = _read_answer(request, answer)
    if session.browser is None:
        return result
    return await render_page(result, session.browser, session=session, checkpoint=checkpoint, tally=tally)


def _unreachable(fault: FetchFault) -> FetchFault:
    """RFC 9309, 2.3.1.4: where robots.txt is unavailable, nothing may be fetched."""
    if fault.ours:
        return fault
    return FetchFault(fault.kind, f"robots.txt was unavailable, so nothing may be fetched: {fault.reason}")


def _validators(request: FetchRequest) -> Mapping[str, str]:
    sent = {"If-None-Match": request.etag, "If-Modified-Since": request.last_modified}
    return {name: value for name, value in sent.items() if value is not None}


def read_answer(request: FetchRequest, answer: HttpResponse) -> FetchResult:
    """Say what an answer that came before makes of a document; it cost nothing."""
    try:
        return _read_answer(request, answer)
    except FetchFault as fault:
        return _fault_result(request, fault, last_status=answer.status)


def read_fault(request: FetchRequest, fault: FetchFault) -> FetchResult:
    """Say what a fault makes of a document; it cost nothing."""
    return _fault_result(request, fault, last_status=fault.status)


def _read_answer(request: FetchRequest, answer: HttpResponse) -> FetchResult:
    status = answer.status
    if answer.body is not None:
        if (target := _refreshed(answer, request.url)) is not None:
            moved = _described(request, answer.headers, FetchStatus.REDIRECTED, status)
            return replace(moved, location=target)
        found = _described(request, answer.headers, FetchStatus.OK, status)
        return replace(found, body=answer.body, unproven=not answer.framed)
    if status == 304:
        return _described(request, answer.headers, FetchStatus.NOT_MODIFIED, status)
    if status in REDIRECTS:
        moved = _described(request, answer.headers, FetchStatus.REDIRECTED, status)
        target = redirect_target(answer, request.url)
        return replace(moved, location=target, permanent=status in PERMANENT)
    known = _BY_STATUS.get(status, FetchStatus.FAILED)
    return _result(request.url, known, http_status=status, reason=f"HTTP {status}")


def _refreshed(answer: HttpResponse, url: str) -> str | None:
    """Where a header `Refresh` leads whoever asks; None for nowhere else."""
    place = refresh_place(answer.headers.get("refresh", ""))
    target = canonical_url(place, url) if place is not None else None
    return None if target == url else target


def _described(
    request: FetchRequest, headers: Mapping[str, str], status: FetchStatus, http_status: int | None
) -> FetchResult:
    kept = request if status is FetchStatus.NOT_MODIFIED else FetchRequest(url=request.url)
    return replace(
        _result(request.url, status, http_status=http_status),
        content_type=headers.get("content-type"),
        length=_length(headers) if status is FetchStatus.NOT_MODIFIED else None,
        told_etag="etag" in headers,
        etag=headers.get("etag", kept.etag),
        last_modified=headers.get("last-modified", kept.last_modified),
        modified=_modified(headers),
        x_robots_tag=headers.get("x-robots-tag"),
        canonical=_canonical(headers, request.url),
    )


def _canonical(headers: Mapping[str, str], url: str) -> str | None:
    """The other address that a header `Link` names as that of the document (RFC 8288; RFC 6596)."""
    for place, said in _LINK.findall(headers.get("link", "")):
        target = canonical_url(place, url) if _CANONICAL.search(said) else None
        if target is not None and registrable_domain(target) == registrable_domain(url):
            return None if target == url else target
    return None


def _length(headers: Mapping[str, str]) -> int | None:
    """Size of the body that a 304 stands for, unless the server may have compressed that; many say 0."""
    if "content-encoding" in headers or "accept-encoding" in headers.get("vary", "").lower():
        return None
    stated = headers.get("content-length", "")
    return int(stated) or None if stated.isascii() and stated.isdigit() and len(stated) < 16 else None


def _modified(headers: Mapping[str, str]) -> Dated | None:
    """When the server says that the bytes last changed; the moment of its answer is only when it made them.

    Source: RFC 9110, 8.8.2.1: a server without a better date may give that one, and caches may hold it.
    """
    found, sent = dated(headers.get("last-modified"), DateOrigin.HTTP), utc_of(headers.get("date"))
    if found is None or sent is None:
        return found
    return found if seconds_between(found.at, sent) > _MADE_FOR_IT else None


def _fault_result(request: FetchRequest, fault: FetchFault, *, last_status: int | None) -> FetchResult:
    if fault.kind is FetchFaultKind.UNSUPPORTED:
        described = _described(request, fault.headers, FetchStatus.UNSUPPORTED, fault.status)
        return replace(described, reason=fault.reason)
    status = FetchStatus.REFUSED if fault.ours else FetchStatus.FAILED
    return _result(request.url, status, http_status=fault.status or last_status, reason=fault.reason)


def _result(
    url: str, status: FetchStatus, *, http_status: int | None = None, reason: str = ""
) -> FetchResult:
    """Return a result without what all tries cost, which is known at the end."""
    return FetchResult(
        url=url,
        status=status,
        requests=0,
        bytes=0,
        statuses=(),
        seconds=0.0,
        http_status=http_status,
        reason=reason,
    )
