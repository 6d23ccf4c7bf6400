"""Look at what a source could be made of: robots.txt, sitemaps and a few pages, or files."""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from flows.run.sources import open_source
from flows.run.versions import find_model
from ingest.fetch.client import FetchSession
from ingest.fetch.media import FetchLimits
from ingest.fetch.proxies import read_proxies
from ingest.fetch.robots import product_token
from ingest.fetch.sitemaps import Sitemap, may_be_list
from ingest.parse.formats.registry import installed_formats
from ingest.parse.inspection import Inspection
from ingest.parse.page_kind import NO_PASSAGES
from ingest.urls import file_path, is_file_url
from runtime.access import as_given
from runtime.clock import SystemClock
from runtime.parser_pool import ParserPool
from runtime.request_keys import open_signer
from schemas.completeness import DiscoveryWay
from schemas.errors import GuardRefused, ParseError, SitegraphError, UnsupportedMedia
from schemas.fetch import FetchRequest, FetchResult
from schemas.fragment import ParseRequest
from schemas.nodes import is_document
from schemas.records import from_record
from schemas.settings import Settings
from schemas.source import Rate, Source
from schemas.source_kinds import OpenSource
from sitegraph.actions.inspect import Document, follow
from sitegraph.actions.proposal import FileLook, LookedAt, SiteLook, in_scope
from sitegraph.actions.target import Target, TargetKind
from sitegraph.actions.traps import Exclude, is_excluded

PAGES, FEWEST = 20, 3
"""Pages of a site that are read besides the start page, or documents of a folder; and of a slow site."""

SAMPLE_SECONDS = 40.0
"""What the pages may take at the pace that a site asks for; fewer are read of a slow one."""

SAMPLE_BYTES = 20_000_000
"""Bytes after which no further document is read: books take long to parse."""

SITEMAPS = 20
"""Sitemaps that are read: enough for a count, and seconds at a polite pace."""

FEEDS = 5
"""Feeds of the start page that are asked for, of the ones it names first; more are of parts of the site."""

_FILLED = re.compile(r"(^|/)(node_modules|bower_components|site-packages|\.?venv|vendor|\.tox|_build)/")
"""Folders that tools fill, with documents of others or once more with one's own."""

_SCRIPT = re.compile(rb"<script", re.IGNORECASE)

Say = Callable[[str], None]
Read = Callable[[Document], LookedAt]


def look_at_site(target: Target, settings: Settings, *, allow_private: Sequence[str], say: Say) -> SiteLook:
    """Read robots.txt, the sitemaps, the start page and some others.

    Raises: GuardRefused: the start page is unavailable; ConfigError: an entry names no private address.
    """
    robot = product_token(settings.user_agent).lower()
    opened = closing(
        FetchSession(
            user_agent=settings.user_agent,
            allow_private=tuple(allow_private),
            per_host_delay=0.0 if allow_private else Rate().per_host_delay,
            concurrency=1,
            proxies=read_proxies(as_given(os.environ)),
            signer=open_signer(settings, now=SystemClock().now),
            limits=replace(FetchLimits(), sitemap_files=SITEMAPS, tries=2),
            clock=SystemClock(),
            formats=installed_formats(),
        )
    )
    with opened as session, _reader(settings) as read:
        say(f"asking {target.place}")
        start = follow(target.place, session, robot)
        url = start.request.uri
        first = read(start)
        named = [feed for feed in in_scope(first, first.feeds) if may_be_list(feed)][:FEEDS]
        say("reading robots.txt, sitemaps and feeds" if named else "reading robots.txt and sitemaps")
        found = session.sitemaps((url, *named))
        # A feed lists what is new, and says nothing of how much there is.
        listed = tuple(entry.url for entry in found if entry.ways != (DiscoveryWay.FEED,))
        crawl_delay = session.robots(url).rules.crawl_delay
        delay = max(0.0 if allow_private else Rate().per_host_delay, crawl_delay or 0.0)
        count = max(FEWEST, min(PAGES, int(SAMPLE_SECONDS / delay))) if delay else PAGES
        count = 0 if target.kind is TargetKind.DOCUMENT else count
        return SiteLook(
            start=url,
            pages=_some_pages(first, listed, count, lambda page: read(follow(page, session, robot)), say),
            crawl_delay=crawl_delay,
            listed=listed,
            feeds={feed: _pages_of(session.lists[feed]) for feed in named if feed in session.lists},
            allow_private=tuple(allow_private),
            notes=(*start.notes, *(f"{one.url}: {one.reason}" for one in session.problems)),
        )


def _pages_of(feed: Sitemap) -> tuple[str, ...]:
    """The pages that a feed lists; none where most of it are parts of them, as comments are."""
    return () if 2 * feed.parts > len(feed.entries) else tuple(entry.url for entry in feed.entries)


def _some_pages(
    first: LookedAt, listed: Sequence[str], count: int, read: Callable[[str], LookedAt], say: Say
) -> tuple[LookedAt, ...]:
    """Read up to *count* pages from all over a site, half of them before the links of these are known."""
    pages, asked = [first], {first.address, *first.feeds}
    for wanted in (count,) if listed else (count // 2, count - count // 2):
        known = listed or [link for page in pages for link in page.links]
        for url in spread(sorted(set(in_scope(first, known)) - asked), wanted):
            if sum(page.size for page in pages) > SAMPLE_BYTES:
                break
            say(f"asking {url}")
            asked.add(url)
            with suppress(GuardRefused, ParseError, UnsupportedMedia):  # the estimate has a page less
                pages.append(read(url))
    return tuple(pages)


def spread(of: Sequence[str], count: int) -> tuple[str, ...]:
    """Return up to *count* of a sequence, from all over it."""
    number = min(len(of), count)
    return tuple(of[(2 * place + 1) * len(of) // (2 * number)] for place in range(number))


def look_at_files(target: Target, source: Source, settings: Settings, *, say: Say) -> FileLook:
    """List what a source of files would read, and read some of it.

    Raises: GuardRefused: there is nothing to read; ConfigError: there is no such repository.
    """
    say(f"looking into {target.place}")
    with open_source(source, settings, clock=SystemClock()) as opened, _reader(settings) as read:
        listing = opened.discover(should_stop=lambda: False)
        excludes = filled_folders(_path(entry.uri) for entry in listing.entries)
        uris = [entry.uri for entry in listing.entries if not is_excluded(_path(entry.uri), excludes)]
        wanted = [uri for uri in uris if _is_wanted(uri, source)]
        if not wanted:
            raise GuardRefused("contains no documents; nothing was written", subject=target.place)
        return FileLook(
            documents=dict(Counter(_ending(uri) for uri in wanted).most_common()),
            size=_size(target, wanted),
            read=tuple(_some_files(wanted, source, opened, read)),
            excludes=excludes,
            notes=tuple(f"{_path(one.url)}: {one.reason}" for one in listing.problems),
        )


def filled_folders(paths: Iterable[str]) -> tuple[Exclude, ...]:
    """Return globs for folders that tools fill, as far as they are among *paths*."""
    found = Counter(match[2] for path in paths if (match := _FILLED.search(path)))
    return tuple(
        Exclude(glob=glob, reason=f"filled by a tool: {number} documents")
        for name, number in sorted(found.items())
        for glob in (f"{name}/*", f"*/{name}/*")
    )


def _is_wanted(uri: str, source: Source) -> bool:
    path, scope = _path(uri), source.scope
    if any(fnmatchcase(path, glob) for glob in scope.exclude):
        return False
    return not scope.include or any(fnmatchcase(path, glob) for glob in scope.include)


def _some_files(uris: Sequence[str], source: Source, opened: OpenSource, read: Read) -> Iterator[LookedAt]:
    results: list[FetchResult] = []
    requests = [FetchRequest(url=uri) for uri in spread(uris, PAGES)]
    opened.fetch(requests, on_result=results.append, should_stop=lambda: False)
    size = 0
    for result in results:
        if result.body is None or size > SAMPLE_BYTES:
            continue
        size += len(result.body)
        path = _path(result.url) if is_file_url(result.url) else None
        request = ParseRequest(
            uri=result.url, source=source.name, path=path, url=None if path else result.url
        )
        try:
            yield read(Document(data=result.body, request=request, address=result.url))
        except (ParseError, UnsupportedMedia):
            continue


def _size(target: Target, uris: Sequence[str]) -> int | None:
    """Bytes of all files of a folder; None where only reading them would tell."""
    if target.kind is TargetKind.DOCUMENT and not target.is_url:
        return Path(target.place).stat().st_size
    if target.kind is not TargetKind.FOLDER:
        return None
    return sum((Path(target.place) / _path(uri)).stat().st_size for uri in uris)


def _path(uri: str) -> str:
    return file_path(uri) if is_file_url(uri) else uri


def _ending(uri: str) -> str:
    return PurePosixPath(_path(uri).partition("?")[0]).suffix.lower() or "(none)"


@contextmanager
def _reader(settings: Settings) -> Iterator[Read]:
    """Parse in a child under limits, as a run does."""
    with ParserPool(workers=1, tokenizer=find_model(settings).path / "tokenizer.json") as pool:

        def read(document: Document) -> LookedAt:
            try:
                record = pool.inspect(document.data, document.request, draw=False)
            except (ParseError, UnsupportedMedia) as error:
                if isinstance(error, SitegraphError) and not error.subject:
                    error.subject = document.address
                raise
            return _looked_at(document, from_record(Inspection, json.loads(record)))

        yield read


def _looked_at(document: Document, inspection: Inspection) -> LookedAt:
    fragment, page = inspection.fragment, inspection.page
    node = next((node for node in fragment.nodes if is_document(node)), None)
    return LookedAt(
        address=document.request.uri,
        size=len(document.data),
        chunks=len(fragment.chunks),
        words=sum(len(chunk.text.split()) for chunk in fragment.chunks),
        has_scripts=_SCRIPT.search(document.data) is not None,
        links=tuple(link.target for link in fragment.links),
        feeds=page.feeds if page else (),
        lang=getattr(node, "lang", None),
        notes=tuple(warning for warning in fragment.warnings if warning.endswith(NO_PASSAGES)),
    )
