"""A session: everything about hosts that must outlive one batch of documents."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial

from ingest.fetch.body import Judge
from ingest.fetch.browser import Browser
from ingest.fetch.faults import FetchFault, FetchFaultKind
from ingest.fetch.gate import parse_allowed
from ingest.fetch.host import NO_HEADERS, Checkpoint, Host, await_unless_stopped, build_checkpoint
from ingest.fetch.login import SiteLogin
from ingest.fetch.loop_thread import LoopThread
from ingest.fetch.media import BodyLimit, FetchLimits
from ingest.fetch.politeness import Clock, Pace, SharedTurns
from ingest.fetch.proxies import Credentials, ProxyRules
from ingest.fetch.robots import RobotsCache, RobotsPolicy, product_token
from ingest.fetch.signatures import RequestSigner
from ingest.fetch.sitemaps import Sitemap, SitemapWalk
from ingest.fetch.transport import HttpResponse, Tally, Transport
from ingest.urls import host_port
from ingest.uses import terms_of_tdm_file
from schemas.errors import TransientError
from schemas.fetch import FetchTotals, SitemapEntry
from schemas.formats import DocumentFormat
from schemas.report import Problem
from schemas.uses import UseOrigin, UseTerms

_DEFAULT_PORTS = frozenset({80, 443})


class FetchSession:
    """Connections, robots rules, pace and circuits of all hosts of one run.

    `pieces` are scripts and styles that pages share; `lists` are seeds that are feeds or sitemaps, and no
    documents; `lists_are_whole`: none of what sites list was left unread; `is_privileged`: it may see what
    the public may not.
    Synchronous to its callers, which may be several threads: the work is done on the session's own loop.
    """

    def __init__(
        self,
        *,
        user_agent: str,
        allow_private: tuple[str, ...],
        per_host_delay: float,
        concurrency: int,
        clock: Clock,
        formats: Sequence[DocumentFormat],
        credentials: Credentials | None = None,
        login: SiteLogin | None = None,
        signer: RequestSigner | None = None,
        proxies: ProxyRules | None = None,
        browser: Browser | None = None,
        limits: FetchLimits | None = None,
        shared: SharedTurns | None = None,
    ) -> None:
        """Open a session, which must be closed.

        Args: user_agent: name and contact, sent with every request; its leading word is what robots.txt is
            read for. allow_private: exact `host:port` entries. per_host_delay: seconds between requests to a
            host; 0 only for a host that is one's own. concurrency: connections to one host. formats: those
            of documents; all else is refused. login: what requests carry of one; without it, the headers of
            *credentials*, for the sites they are for. signer: signs every request. proxies: what requests go
            through. browser: runs the scripts of every HTML page. shared: the turns of hosts among all
            sessions that know of them.
        Raises: ConfigError: an `allow_private` entry is not one.
        """
        self.login, self.limits = login or SiteLogin(credentials=credentials), limits or FetchLimits()
        self.browser = browser
        self.is_privileged = bool(allow_private) or self.login.is_privileged
        self.pieces: dict[str, HttpResponse] = {}
        self.formats = formats
        self.clock = clock
        self.concurrency = concurrency
        self.problems: list[Problem] = []
        self.lists: dict[str, Sitemap] = {}
        self.lists_are_whole = True
        self._per_host_delay = per_host_delay
        allowed = tuple(parse_allowed(entry) for entry in allow_private)
        self._transport = Transport(
            user_agent=user_agent,
            allowed=allowed,
            login=self.login,
            proxies=proxies or ProxyRules(),
            limits=self.limits,
            signer=signer,
        )
        self._robots = RobotsCache(token=product_token(user_agent), clock=clock, limits=self.limits)
        self._hosts: dict[str, Host] = {}
        self._shared = shared
        self.loop = LoopThread()

    def close(self) -> None:
        """Close all connections and the browser; the session can do nothing after that.

        All is closed, also where something fails to close: its error is raised at the end.
        """
        with ExitStack() as stack:
            stack.callback(self.loop.close)
            if self._shared is not None:
                stack.callback(self._leave_turns, self._shared)
            stack.callback(lambda: self.loop.run(self._transport.aclose()))
            if self.browser is not None:
                self.loop.run(self.browser.aclose())

    def _leave_turns(self, shared: SharedTurns) -> None:
        with suppress(TransientError):  # what others are not told expires
            self.loop.run(self._release_hosts())
            shared.turns.leave(shared.holder)

    async def _release_hosts(self) -> None:
        for host in self._hosts.values():
            await host.aclose()

    @property
    def totals(self) -> FetchTotals:
        """All HTTP so far."""
        sent = self._transport
        return FetchTotals(requests=sent.requests, bytes=sent.bytes, statuses=dict(sent.statuses))

    def sitemaps(
        self, seed_urls: tuple[str, ...], *, should_stop: Callable[[], bool] = lambda: False
    ) -> tuple[SitemapEntry, ...]:
        """List what the sites of *seed_urls* say they have, by URL; a site without a sitemap adds none.

        What is wrong with a sitemap that exists is added to `problems`. Raises: Stopped, also while a host
        is waited for.
        """
        return self.loop.run(self._list_sitemaps(seed_urls, build_checkpoint(should_stop)))

    async def _list_sitemaps(
        self, seed_urls: tuple[str, ...], checkpoint: Checkpoint
    ) -> tuple[SitemapEntry, ...]:
        walk = asyncio.ensure_future(self._walk_sitemaps(seed_urls, checkpoint))
        await await_unless_stopped([walk], checkpoint)
        return walk.result()

    async def _walk_sitemaps(
        self, seed_urls: tuple[str, ...], checkpoint: Checkpoint
    ) -> tuple[SitemapEntry, ...]:
        ask = partial(self.ask_allowed, judge=self._judge_sitemap, tally=Tally(), checkpoint=checkpoint)
        walk = SitemapWalk(limits=self.limits, ask=ask, report=self.problems.append)
        for site in dict.fromkeys(map(_robots_site, seed_urls)):
            seeds = tuple(seed for seed in seed_urls if _robots_site(seed) == site)
            await walk.visit(site, await self.robots_policy(seeds[0], checkpoint), seeds=seeds)
        self.lists |= walk.lists
        self.lists_are_whole = walk.whole
        return tuple(walk.entries[url] for url in sorted(walk.entries))

    def robots(self, url: str, *, should_stop: Callable[[], bool] = lambda: False) -> RobotsPolicy:
        """Return what robots.txt says at the site of *url*, asked once. Raises: Stopped."""
        return self.loop.run(self.robots_policy(url, build_checkpoint(should_stop)))

    def host(self, url: str) -> Host:
        """The host that serves *url*; http and https on their own ports are one host."""
        key = host_key(url)
        if key not in self._hosts:
            pace = Pace(per_host_delay=self._per_host_delay, clock=self.clock)
            self._hosts[key] = Host(
                name=key,
                transport=self._transport,
                pace=pace,
                clock=self.clock,
                limits=self.limits,
                formats=self.formats,
                connections=self.concurrency,
            )
            if self._shared is not None:
                self._hosts[key].share(self._shared)
        return self._hosts[key]

    async def robots_policy(self, url: str, checkpoint: Checkpoint) -> RobotsPolicy:
        """What robots.txt says at the site of *url*."""
        site = _robots_site(url)
        known = self._robots.known(site)
        if known is not None:
            return known
        ask = partial(self.ask, judge=self._robots.judge, tally=Tally(), checkpoint=checkpoint)
        policy = await self._robots.read(site, ask)
        self.host(url).slow_down(policy.rules.crawl_delay or 0.0)
        return policy

    async def uses_told(self, url: str, checkpoint: Checkpoint) -> Mapping[UseOrigin, UseTerms]:
        """What the site of *url* says of its uses in robots.txt and `tdmrep.json`; what is unavailable, not.

        Raises: Stopped.
        """
        policy = await self.robots_policy(url, checkpoint)
        ask = partial(self.ask_allowed, judge=self._robots.judge, tally=Tally(), checkpoint=checkpoint)
        rules = await self._robots.read_reservations(_robots_site(url), ask)
        reserved = {} if rules is None else {UseOrigin.TDMREP: terms_of_tdm_file(rules, url)}
        signalled = {UseOrigin.ROBOTS: policy.rules.uses} if policy.fault is None else {}
        return {**signalled, **reserved}

    async def ask(
        self,
        url: str,
        *,
        judge: Judge,
        tally: Tally,
        checkpoint: Checkpoint,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> HttpResponse:
        """Ask the host of *url* for it, within its pace and tries. Raises: FetchFault, Stopped."""
        return await self.host(url).ask(url, judge=judge, tally=tally, checkpoint=checkpoint, headers=headers)

    async def ask_allowed(
        self,
        url: str,
        *,
        judge: Judge,
        tally: Tally,
        checkpoint: Checkpoint,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> HttpResponse:
        """Ask for *url* if robots.txt of its own site lets us. Raises: FetchFault, Stopped."""
        policy = await self.robots_policy(url, checkpoint)
        if policy.fault is not None:
            raise policy.fault
        if not policy.rules.allows(url):
            raise FetchFault(FetchFaultKind.POLICY, "robots.txt disallows it")
        return await self.ask(url, judge=judge, tally=tally, checkpoint=checkpoint, headers=headers)

    def _judge_sitemap(self, _content_type: str | None, _head: bytes) -> BodyLimit:
        """Sitemaps come under any type; the parser tells."""
        return self.limits.sitemap


def host_key(url: str) -> str:
    """Name the host of *url* for politeness."""
    host, port = host_port(url)
    return host if port in _DEFAULT_PORTS else f"{host}:{port}"


def _robots_site(url: str) -> str:
    """Return scheme and authority of *url*: what one robots.txt speaks for."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"
