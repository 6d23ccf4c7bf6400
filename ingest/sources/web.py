"""Sources of kind `web`: sites, from seeds and sitemaps along the links of their pages."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ingest.plan.schedule import parse_lastmod
from ingest.plan.scope import seed_urls
from schemas.completeness import DiscoveryWay
from schemas.fetch import FetchRequest, FetchResult, SitemapEntry
from schemas.source import Source
from schemas.source_kinds import (
    Keys,
    OpenSource,
    SourceClock,
    SourceContext,
    SourceEntry,
    SourceKind,
    SourceListing,
)

if TYPE_CHECKING:
    from ingest.fetch.client import FetchSession


class _Site:
    def __init__(self, source: Source, session: "FetchSession", clock: SourceClock) -> None:
        self._source = source
        self._session = session
        self._clock = clock

    def discover(self, *, should_stop: Callable[[], bool]) -> SourceListing:
        seeds, now = seed_urls(self._source), self._clock.now()
        found = self._session.sitemaps(seeds, should_stop=should_stop)
        listed = {entry.url: entry for entry in found}
        pages = [seed for seed in seeds if seed not in self._session.lists]
        seed = dict.fromkeys(pages, (DiscoveryWay.SEED,))
        named = {**{page: SitemapEntry(url=page, ways=()) for page in pages}, **listed}
        entries = tuple(
            SourceEntry(
                uri=uri,
                lastmod=parse_lastmod(one.lastmod, now=now),
                ways=(*seed.get(uri, ()), *one.ways),
                translations=one.translations,
            )
            for uri, one in named.items()
        )
        whole = self._session.lists_are_whole
        return SourceListing(entries=entries, problems=tuple(self._session.problems), whole=whole)

    def fetch(
        self,
        requests: Sequence[FetchRequest],
        *,
        on_result: Callable[[FetchResult], None],
        should_stop: Callable[[], bool],
    ) -> None:
        from ingest.fetch.document import fetch_all

        fetch_all(requests, session=self._session, on_result=on_result, should_stop=should_stop)


@contextmanager
def _open(source: Source, context: SourceContext) -> Iterator[OpenSource]:
    yield _Site(source, context.session(), context.clock)


KIND = SourceKind(
    name="web",
    keys=Keys,
    open=_open,
    origin="sitemap",
    shared=("seeds", "auth", "login", "javascript", "proxy", "proxy_env", "quarantine"),
    lists_all=False,
    follows_links=True,
    reaches_out=lambda _source: True,
)
