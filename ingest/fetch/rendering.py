"""A page as its scripts make it; what they ask for keeps to gate, robots.txt, pace and caps."""

from dataclasses import replace

from ingest.fetch.browser import Browser
from ingest.fetch.client import FetchSession
from ingest.fetch.faults import FetchFault, FetchFaultKind
from ingest.fetch.host import Checkpoint
from ingest.fetch.limits import BodyLimit
from ingest.fetch.media import is_page
from ingest.fetch.redirects import follow
from ingest.fetch.transport import HttpResponse, Tally
from ingest.urls import canonical_url, owned_site
from schemas.errors import Stopped
from schemas.fetch import FetchResult, FetchStatus

_HOPS = 5
_KEPT_PIECES = 64
_KEPT_BYTES = 1_000_000
_SHARED = frozenset({"script", "stylesheet"})


async def render_page(
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

    async def supply(self, url: str, kind: str) -> HttpResponse | None:
        """Answer a page's request; None where it is refused or unavailable."""
        target = canonical_url(url)
        if target is None or not self._may_see(target):
            return None
        kept = self._session.pieces
        if target in kept:
            return kept[target]
        try:
            answer = await follow(target, hops=_HOPS, ask=self._ask)
        except FetchFault as fault:
            self._note(target, fault)
            return None
        except Stopped:
            return None
        small = answer is not None and len(answer.body or b"") <= _KEPT_BYTES
        if answer is not None and small and kind in _SHARED and len(kept) < _KEPT_PIECES:
            kept[target] = answer
        return answer

    async def _ask(self, url: str) -> HttpResponse:
        if not self._may_see(url):  # where a redirect leads
            raise FetchFault(
                FetchFaultKind.POLICY,
                "a resource of another site, where a login or private address is used",
            )
        return await self._session.ask_allowed(
            url, judge=self._judge, tally=self._tally, checkpoint=self._checkpoint
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
