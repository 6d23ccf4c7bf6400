"""Redirects, by hand: each hop is a URL of its own, canonical before anything else is done with it."""

from collections.abc import Awaitable, Callable

from ingest.fetch.faults import FetchFault, FetchFaultKind
from ingest.fetch.transport import HttpResponse
from ingest.urls import canonical_url

REDIRECTS = frozenset({301, 302, 303, 307, 308})
PERMANENT = frozenset({301, 308})


def redirect_target(answer: HttpResponse, url: str) -> str:
    """Return the canonical URL that *answer*, got for *url*, points to.

    Raises: FetchFault: no target, or one that may not be fetched (scheme, userinfo, malformed).
    """
    location = answer.headers.get("location", "")
    if not location:
        raise FetchFault(
            FetchFaultKind.BAD_ANSWER, f"HTTP {answer.status} without a target", status=answer.status
        )
    # Header bytes arrive as latin-1; browsers read a raw non-ASCII target as UTF-8.
    text = location.encode("latin-1").decode("utf-8", errors="replace")
    target = canonical_url(text, url)
    if target is None:
        raise FetchFault(
            FetchFaultKind.POLICY, "the redirect's target is no fetchable URL", status=answer.status
        )
    return target


async def follow(
    url: str, *, hops: int, ask: Callable[[str], Awaitable[HttpResponse]]
) -> HttpResponse | None:
    """Ask for *url* and what it redirects to; None when that takes more than *hops* redirects.

    Raises: FetchFault.
    """
    for _ in range(hops + 1):
        answer = await ask(url)
        if answer.status not in REDIRECTS:
            return answer
        url = redirect_target(answer, url)
    return None
