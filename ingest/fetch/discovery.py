"""Find and walk the sitemaps of a site, and its list for language models."""

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from ingest.fetch.faults import FetchFault
from ingest.fetch.limits import FetchLimits
from ingest.fetch.redirects import follow
from ingest.fetch.robots_cache import RobotsPolicy
from ingest.fetch.sitemaps import Sitemap, parse_llms, parse_sitemap
from ingest.fetch.transport import HttpResponse
from ingest.urls import canonical_url
from schemas.errors import ParseError
from schemas.fetch import SitemapEntry
from schemas.report import Problem

LLMS = "/llms.txt"
"""A list in Markdown of what a site has for language models. Source: llmstxt.org."""


@dataclass(slots=True, kw_only=True)
class SitemapWalk:
    """Asks for the sitemaps of one site after another, each file once.

    `ask` raises a Fault for what robots.txt of the file's own site disallows.
    `report` hears of every sitemap that exists and cannot be read, and of every cap that was met.
    """

    limits: FetchLimits
    ask: Callable[[str], Awaitable[HttpResponse]]
    report: Callable[[Problem], None]
    entries: dict[str, SitemapEntry] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)

    async def visit(self, site: str, policy: RobotsPolicy) -> None:
        """Read what *site* names in robots.txt, /sitemap.xml, and /llms.txt."""
        if policy.fault is not None:
            return
        named = [canonical_url(place, f"{site}/") for place in policy.rules.sitemaps]
        queue = deque((url, 1) for url in named if url is not None)
        guess = f"{site}/sitemap.xml"
        queue.append((guess, 1))
        while queue:
            url, depth = queue.popleft()
            sitemap = await self._read(url, silent=url == guess and url not in named)
            self._add(sitemap)
            queue.extend((child, depth + 1) for child in self._deeper(url, sitemap, depth))
        if len(self._seen) < self.limits.sitemap_files:
            self._add(await self._read(f"{site}{LLMS}", silent=True))

    def _add(self, sitemap: Sitemap) -> None:
        for entry in sitemap.entries:
            self.entries.setdefault(entry.url, entry)

    def _deeper(self, url: str, sitemap: Sitemap, depth: int) -> tuple[str, ...]:
        if sitemap.children and depth >= self.limits.sitemap_depth:
            self._report(url, f"sitemaps nested deeper than {self.limits.sitemap_depth} are left out")
            return ()
        return sitemap.children

    async def _read(self, url: str, *, silent: bool) -> Sitemap:
        if url in self._seen:
            return Sitemap()
        if len(self._seen) >= self.limits.sitemap_files:
            self._report(url, f"left out, more than {self.limits.sitemap_files} sitemaps")
            return Sitemap()
        self._seen.add(url)
        try:
            return await self._fetch(url, silent=silent)
        except FetchFault as fault:
            reason = fault.reason
        except ParseError as error:
            reason = error.message
        if not silent:
            self._report(url, reason)
        return Sitemap()

    async def _fetch(self, url: str, *, silent: bool) -> Sitemap:
        answer = await follow(url, hops=self.limits.robots_redirects, ask=self.ask)
        if answer is None or answer.body is None:
            if not silent:
                self._report(url, f"no sitemap there ({answer.status if answer else 'too many redirects'})")
            return Sitemap()
        cap, most = self.limits.sitemap.max_bytes, self.limits.sitemap_urls
        if url.endswith(LLMS):
            sitemap = parse_llms(answer.body, url=url, max_urls=most)
        else:
            sitemap = parse_sitemap(answer.body, url=url, max_bytes=cap, max_urls=most)
        if sitemap.problem:
            self._report(url, sitemap.problem)
        return sitemap

    def _report(self, url: str, reason: str) -> None:
        self.report(Problem(url=url, reason=f"sitemap: {reason}"))
