"""Documents of the web: asked for, rendered where scripts make them, and fetched in waves, host by host."""

import asyncio
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from queue import SimpleQueue

from ingest.dates import dated, seconds_between, utc_of
from ingest.fetch.browser import Browser
from ingest.fetch.client import FetchSession, host_key
from ingest.fetch.faults import FetchFault, FetchFaultKind
from ingest.fetch.host import NO_HEADERS, Checkpoint, await_unless_stopped, build_checkpoint
from ingest.fetch.media import BodyLimit, is_page, judge_document
from ingest.fetch.transport import (
    PERMANENT,
    REDIRECTS,
    HttpResponse,
    Tally,
    follow_redirects,
    redirect_target,
)
from ingest.urls import canonical_url, owned_site, refresh_place, registrable_domain, without_route
from ingest.uses import TDM, TDM_POLICY, terms_of_reservation
from schemas.errors import Stopped
from schemas.fetch import FetchRequest, FetchResult, FetchStatus
from schemas.nodes import Dated, DateOrigin
from schemas.uses import UseOrigin

_HOPS = 5
_KEPT_PIECES = 64
_KEPT_BYTES = 1_000_000
_SHARED = frozenset({"script", "stylesheet"})


async def _rendered(
    result: FetchResult, browser: Browser, *, session: FetchSession, checkpoint: Checkpoint, tally: Tally
) -> FetchResult:
    """Return *result* with the body its scripts make; what is no HTML page stays as it is.

    Validators go: they speak of the shell, and what its scripts load may change without it.
    Raises: FetchFault: the scripts did not end, or a resource of its own site was unavailable; Stopped.
    """
    if result.status is not FetchStatus.OK or not is_page(result.content_type, result.body or b""):
        return result
    pieces = _Pieces(result.url, session, checkpoint, tally)
    limit = session.limits.html
    body = await browser.render(
        result.url,
        result.body or b"",
        content_type=result.content_type or "text/html",
        supply=pieces.supply,
        seconds=limit.seconds,
        max_bytes=limit.max_bytes,
    )
    checkpoint()  # a stop in between has left pieces out
    if pieces.fault is not None:
        raise pieces.fault
    named = "text/html; charset=utf-8"
    return replace(result, body=body, content_type=named, etag=None, last_modified=None, modified=None)


class _Pieces:
    """What one page asks for; `fault` is why the page cannot be whole."""

    def __init__(self, page: str, session: FetchSession, checkpoint: Checkpoint, tally: Tally) -> None:
        self.fault: FetchFault | None = None
        self._site = owned_site(page)
        self._session = session
        self._checkpoint = checkpoint
        self._tally = tally

    async def supply(self, url: str, kind: str, login: str | None) -> HttpResponse | None:
        """Answer a page's request; None where it is refused or unavailable.

        *login* is the Authorization that its scripts made of what the login keeps for them.
        """
        target = canonical_url(url)
        if target is None or not self._may_see(target):
            return None
        kept = self._session.pieces
        if target in kept:
            return kept[target]
        try:
            answer = await follow_redirects(target, hops=_HOPS, ask=partial(self._ask, login=login))
        except FetchFault as fault:
            self._note(target, fault)
            return None
        except Stopped:
            return None
        small = answer is not None and len(answer.body or b"") <= _KEPT_BYTES
        if answer is not None and small and kind in _SHARED and len(kept) < _KEPT_PIECES:
            kept[target] = answer
        return answer

    async def _ask(self, url: str, *, login: str | None) -> HttpResponse:
        if not self._may_see(url):  # where a redirect leads
            raise FetchFault(
                FetchFaultKind.POLICY,
                "a resource of another site, where a login or private address is used",
            )
        told = bool(self._session.login.data.storage and login) and owned_site(url) == self._site
        return await self._session.ask_allowed(
            url,
            judge=self._judge,
            tally=self._tally,
            checkpoint=self._checkpoint,
            headers={"Authorization": login or ""} if told else {},
        )

    def _may_see(self, url: str) -> bool:
        """Whether the page may be given *url*: its scripts could carry away what only we may see."""
        return not self._session.is_privileged or owned_site(url) == self._site

    def _judge(self, _content_type: str | None, _head: bytes) -> BodyLimit:
        return self._session.limits.html

    def _note(self, url: str, fault: FetchFault) -> None:
        if fault.kind is not FetchFaultKind.POLICY and owned_site(url) == self._site:
            self.fault = FetchFault(
                FetchFaultKind.RENDERING, f"its resource {url} was unavailable: {fault.reason}"
            )


_MADE_FOR_IT = 2.0
"""Seconds before its answer within which a server makes a page."""

_LINK = re.compile(r"<([^<>]{1,2048})>([^<>]{0,500})")
_RELATION = re.compile(r";\s*rel\s*=\s*\"?([^\";,]*)", re.IGNORECASE)
_ONE_LANGUAGE = re.compile(r";\s*hreflang\s*=\s*\"?(?!x-default\b)\w", re.IGNORECASE)
_BY_STATUS = {404: FetchStatus.NOT_FOUND, 410: FetchStatus.GONE}


async def _fetch_one(request: FetchRequest, *, session: FetchSession, checkpoint: Checkpoint) -> FetchResult:
    """Fetch one document; a fault becomes a result.

    Raises: Stopped, from *checkpoint*; GuardRefused: the login is lost.
    """
    started = session.clock.monotonic()
    tally = Tally()
    try:
        since = session.login.renewals
        result = await _fetch(request, session, checkpoint, tally)
        if await session.login.is_worth_asking_again(result, since=since):
            since = session.login.renewals
            result = await _fetch(request, session, checkpoint, tally)
            await session.login.is_worth_asking_again(result, since=since)
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
def _is_fetchable(url: str) -> bool:
    """Whether *url* is a canonical http(s) URL; nothing else is ever asked for.

    Remembered, since a wave asks before it sorts by host, and again before it fetches.
    """
    return url.startswith(("http://", "https://")) and canonical_url(url, routed=True) == url


async def _fetch(
    request: FetchRequest, session: FetchSession, checkpoint: Checkpoint, tally: Tally
) -> FetchResult:
    url = without_route(request.url)
    if not _is_fetchable(request.url):
        raise FetchFault(FetchFaultKind.POLICY, "not a canonical http(s) URL")
    policy = await session.robots_policy(url, checkpoint)
    if policy.fault is not None:
        raise _unreachable(policy.fault)
    if not policy.rules.allows(url):
        return FetchResult(url=request.url, status=FetchStatus.DISALLOWED, reason="robots.txt disallows it")
    answer = await session.host(url).ask(
        url,
        judge=partial(judge_document, url=url, formats=session.formats, limits=session.limits),
        tally=tally,
        checkpoint=checkpoint,
        # A script's page may be another behind the same shell: a 304 would say nothing.
        headers=NO_HEADERS if session.browser is not None else _validators(request),
    )
    result = replace(_read_answer(replace(request, url=url), answer), url=request.url)
    if result.status in (FetchStatus.OK, FetchStatus.NOT_MODIFIED):
        result = replace(result, uses={**result.uses, **await session.uses_told(url, checkpoint)})
    if session.browser is None:
        return result
    if result.location is not None and "#" not in result.location:
        # Browsers take a fragment along; what a site moves is its shell, with all routes behind it.
        result = replace(result, location=f"{result.location}{request.url.removeprefix(url)}")
    return await _rendered(result, session.browser, session=session, checkpoint=checkpoint, tally=tally)


def _unreachable(fault: FetchFault) -> FetchFault:
    """RFC 9309, 2.3.1.4: where robots.txt is unavailable, nothing may be fetched."""
    if fault.ours:
        return fault
    return FetchFault(fault.kind, f"robots.txt was unavailable, so nothing may be fetched: {fault.reason}")


def _validators(request: FetchRequest) -> Mapping[str, str]:
    sent = {"If-None-Match": request.etag, "If-Modified-Since": request.last_modified}
    return {name: value for name, value in sent.items() if value is not None}


def result_of_answer(request: FetchRequest, answer: HttpResponse) -> FetchResult:
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
    return FetchResult(url=request.url, status=known, http_status=status, reason=f"HTTP {status}")


def _refreshed(answer: HttpResponse, url: str) -> str | None:
    """Where a header `Refresh` leads whoever asks; None for nowhere else."""
    place = refresh_place(answer.headers.get("refresh", ""))
    target = canonical_url(place, url) if place is not None else None
    return None if target == url else target


def _described(
    request: FetchRequest, headers: Mapping[str, str], status: FetchStatus, http_status: int | None
) -> FetchResult:
    kept = request if status is FetchStatus.NOT_MODIFIED else FetchRequest(url=request.url)
    uses = terms_of_reservation(headers.get(TDM), headers.get(TDM_POLICY), UseOrigin.HEADER)
    forms = _translations(headers, request.url)
    # Many servers leave headers out of a 304: its silence takes nothing back.
    is_silent = status is FetchStatus.NOT_MODIFIED
    return FetchResult(
        url=request.url,
        status=status,
        http_status=http_status,
        content_type=headers.get("content-type"),
        length=_length(headers) if status is FetchStatus.NOT_MODIFIED else None,
        told_etag="etag" in headers,
        etag=headers.get("etag", kept.etag),
        last_modified=headers.get("last-modified", kept.last_modified),
        modified=_modified(headers),
        x_robots_tag=headers.get("x-robots-tag"),
        canonical=_canonical(headers, request.url),
        translations=forms if forms or not is_silent else None,
        uses={UseOrigin.HEADER: uses} if uses or not is_silent else {},
    )


def _canonical(headers: Mapping[str, str], url: str) -> str | None:
    """The other address that a header `Link` names as that of the document (RFC 6596)."""
    target = next((target for target, _ in _linked(headers, url, "canonical")), None)
    return None if target == url else target


def _translations(headers: Mapping[str, str], url: str) -> tuple[str, ...]:
    """The document's forms in other languages that a header `Link` names."""
    named = _linked(headers, url, "alternate")
    return tuple(sorted({target for target, said in named if _ONE_LANGUAGE.search(said)} - {url}))


def _linked(headers: Mapping[str, str], url: str, relation: str) -> Iterator[tuple[str, str]]:
    """Addresses of the same owner of which a header `Link` says so, each with all that it says (RFC 8288)."""
    for place, said in _LINK.findall(headers.get("link", "")):
        words, target = _RELATION.search(said), canonical_url(place, url)
        is_named = words is not None and relation in words[1].lower().split()
        if is_named and target is not None and registrable_domain(target) == registrable_domain(url):
            yield target, said


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
    return FetchResult(
        url=request.url, status=status, http_status=fault.status or last_status, reason=fault.reason
    )


_WINDOW = 32
"""Results that may wait for the caller; beyond that, fetching waits for it, or bodies would pile up."""


def fetch_all(
    requests: Sequence[FetchRequest],
    *,
    session: FetchSession,
    on_result: Callable[[FetchResult], None],
    should_stop: Callable[[], bool],
) -> None:
    """Fetch every document, telling *on_result* of each as it completes, in the caller's thread.

    Each gets exactly one result, unless *should_stop* (asked before every request, and while waiting; in
    another thread) says so: then what is under way is dropped without a result and stays due.
    Several threads may call this at once with one session.
    Raises: Stopped: *should_stop* said so; GuardRefused: the login is lost; whatever *on_result* raises.
    """
    wave = _Wave(session, build_checkpoint(should_stop))
    future = session.loop.submit(wave.run(requests))
    future.add_done_callback(lambda _: wave.results.put(None))
    try:
        while (result := wave.results.get()) is not None:
            on_result(result)
            session.loop.call(wave.window.release)
        future.result()
    finally:
        future.cancel()


class _Wave:
    """The loop's side of one call of `fetch_all`; a None among the results is their end."""

    def __init__(self, session: FetchSession, checkpoint: Checkpoint) -> None:
        self.results: SimpleQueue[FetchResult | None] = SimpleQueue()
        self.window = asyncio.Semaphore(_WINDOW)
        self._session = session
        self._checkpoint = checkpoint

    async def run(self, requests: Sequence[FetchRequest]) -> None:
        tasks = [
            asyncio.ensure_future(self._drain(queue))
            for queue in _by_host(requests)
            for _ in range(min(self._session.concurrency, len(queue)))
        ]
        await await_unless_stopped(tasks, self._checkpoint)

    async def _drain(self, queue: deque[FetchRequest]) -> None:
        while queue:
            result = await _fetch_one(queue.popleft(), session=self._session, checkpoint=self._checkpoint)
            await self.window.acquire()
            self.results.put(result)


def _by_host(requests: Sequence[FetchRequest]) -> list[deque[FetchRequest]]:
    hosts: dict[str, deque[FetchRequest]] = {}
    for request in requests:
        # What cannot be fetched is refused without asking anyone; any queue will do for it.
        key = host_key(request.url) if _is_fetchable(request.url) else ""
        hosts.setdefault(key, deque()).append(request)
    return list(hosts.values())
