"""Fetch from scripted sites on loopback in one call."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

from ingest.fetch.browser import Browser
from ingest.fetch.client import FetchSession
from ingest.fetch.document import fetch_all
from ingest.fetch.login import SiteLogin
from ingest.fetch.media import FetchLimits
from ingest.fetch.politeness import Clock, SharedTurns
from ingest.fetch.proxies import Credentials, ProxyRules
from ingest.fetch.signatures import RequestSigner
from ingest.parse.formats.registry import installed_formats
from schemas.fetch import FetchRequest, FetchResult
from tests.fakes.fetch_clock import QuickClock
from tests.fakes.site_server import Reply, Site, serve

AGENT = "sitegraph/0.1 (+mailto:owner@example.org)"


def short_limits(seconds: float) -> FetchLimits:
    """The usual caps with waits cut down to *seconds*, and deadlines to four times that."""
    usual = FetchLimits()
    return replace(
        usual,
        connect=seconds,
        read=seconds,
        html=replace(usual.html, seconds=4 * seconds),
        pdf=replace(usual.pdf, seconds=4 * seconds),
    )


@contextmanager
def session_for(
    *sites: Site,
    clock: Clock | None = None,
    limits: FetchLimits | None = None,
    per_host_delay: float = 0.0,
    concurrency: int = 1,
    allow_private: tuple[str, ...] | None = None,
    credentials: Credentials | None = None,
    login: SiteLogin | None = None,
    signer: RequestSigner | None = None,
    proxies: ProxyRules | None = None,
    browser: Browser | None = None,
    shared: SharedTurns | None = None,
) -> Iterator[FetchSession]:
    """A session that may reach exactly *sites*."""
    with closing(
        FetchSession(
            user_agent=AGENT,
            allow_private=tuple(site.address for site in sites) if allow_private is None else allow_private,
            per_host_delay=per_host_delay,
            concurrency=concurrency,
            clock=clock or QuickClock(),
            credentials=credentials,
            login=login,
            signer=signer,
            proxies=proxies,
            browser=browser,
            limits=limits,
            formats=installed_formats(),
            shared=shared,
        )
    ) as session:
        yield session


def fetch(session: FetchSession, *asked: str | FetchRequest) -> dict[str, FetchResult]:
    """Fetch all and give the results by URL; a second result for one document is an error."""
    found: dict[str, FetchResult] = {}

    def keep(result: FetchResult) -> None:
        assert result.url not in found
        found[result.url] = result

    requests = [FetchRequest(url=one) if isinstance(one, str) else one for one in asked]
    fetch_all(requests, session=session, on_result=keep, should_stop=never)
    assert set(found) == {request.url for request in requests}
    return found


def fetch_one(session: FetchSession, asked: str | FetchRequest) -> FetchResult:
    """Fetch one document."""
    return next(iter(fetch(session, asked).values()))


def fetch_reply(
    reply: Reply | list[Reply], *, limits: FetchLimits | None = None, path: str = "/a"
) -> FetchResult:
    """Fetch the one document of a site that answers so; of several replies, one after the other."""
    site = Site({path: reply})
    with serve(site), session_for(site, limits=limits) as session:
        return fetch_one(session, site.url(path))


def never() -> bool:
    """No stop was asked for."""
    return False


def stop_after(requests: int) -> Callable[[], bool]:
    """Let so many requests pass, then ask to stop."""
    left = iter(range(requests))
    return lambda: next(left, None) is None
