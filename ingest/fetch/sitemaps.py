"""Sitemaps, feeds, llms.txt and inventories of a site: found, walked and read.

Source: sitemaps.org protocol 0.9; RSS 2.0; RFC 4287 (Atom); sphinx.util.inventory of Sphinx 8, version 2;
crawl rules, section 4.
"""

import re
import zlib
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial

from lxml import etree

from ingest.fetch.body import build_decoder
from ingest.fetch.faults import FetchFault, FetchFaultKind
from ingest.fetch.media import FetchLimits
from ingest.fetch.robots import RobotsPolicy
from ingest.fetch.transport import HttpResponse, follow_redirects
from ingest.urls import canonical_url, folder_of, registrable_domain
from schemas.completeness import DiscoveryWay
from schemas.errors import ParseError
from schemas.fetch import SitemapEntry
from schemas.report import Problem

_GZIP = b"\x1f\x8b"
_MAX_TEXT = 4096
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_AROUND = b"\xef\xbb\xbf \t\r\n"
_DOCTYPE = re.compile(rb"<!DOCTYPE[^>\[]*(\[)?", re.IGNORECASE)
_BEFORE = 4096
"""Bytes of warnings that a server may write before a sitemap."""

_ELSE = re.compile(rb"""<\?xml[^>]{0,100}encoding=["'](?!utf-8)""", re.IGNORECASE)
_CONTROLS = bytes(range(0x20)).translate(None, delete=b"\t\r\n")
_BARE = re.compile(
    rb"(<!\[CDATA\[.*?\]\]>)|&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-fA-F]{1,6});)", re.DOTALL
)
"""An ampersand that begins no reference of XML; in CDATA it needs none."""

_MARKDOWN_LINK = re.compile(r"\]\(\s*<?((?:[^\s()<>]|\([^\s()<>]*\))+)")

_INVENTORY = b"# Sphinx inventory version 2"
_INVENTORY_LINE = re.compile(r"(?P<name>.+?) [^\s:]++:\S++ -?\d++ (?P<place>\S*+) .*")
"""Nothing in it is tried twice: a line may be as long as a file."""

MOST_FORMS = 500
"""Forms in other languages that are read of one page: more than there are languages with documentation."""

_PIECE = 2**20
"""Bytes that the parser is given at once: of more than 10 MB it says that they are not well-formed."""

_MANY_FORMS = f"more than {MOST_FORMS} forms of one page; the rest was left out"
_TOO_MANY = "it lists more URLs than a sitemap may; the rest was left out"
_ITEMS = frozenset({"url", "sitemap", "item", "entry"})
_FEEDS = frozenset({"rss", "feed", "RDF"})
_DATES = frozenset({"lastmod", "pubDate", "updated"})
_PLACES = {"url": "loc", "sitemap": "loc", "item": "link", "entry": "link"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitemap:
    """What one file lists; `problem` where it ended before its end, `parts`: how many are parts of pages."""

    entries: tuple[SitemapEntry, ...] = ()
    children: tuple[str, ...] = ()
    problem: str = ""
    parts: int = 0


def parse_sitemap(body: bytes, *, url: str, max_bytes: int, max_urls: int) -> Sitemap:
    """Read urlset, sitemapindex, RSS, Atom, or a text file with a URL a line; gzip by its magic.

    Args: url: where it was found; relative places resolve against it. max_bytes: unpacked.
    Raises: ParseError: no sitemap, a DOCTYPE in it that declares something, or larger than *max_bytes*.
    """
    if body.startswith(_GZIP):
        body = _unpack(body, max_bytes, url)
    body, encoding = _as_utf8(body)
    listing = _Listing(url, max_urls)
    if body.startswith(b"<"):
        listing, problem = _read_xml(body, listing, url, encoding)
    else:
        problem = _read_lines(body, listing, url)
    entries, children = tuple(listing.entries.values()), tuple(listing.children)
    problem = problem or listing.problem
    return Sitemap(entries=entries, children=children, problem=problem, parts=listing.parts)


def parse_llms(body: bytes, *, url: str, max_urls: int) -> Sitemap:
    """Read the links of an llms.txt; many sites answer any address with a page, which is none.

    Raises: ParseError: no Markdown with links.
    """
    listing, problem = _Listing(url, max_urls, DiscoveryWay.LLMS), ""
    text = "" if body.lstrip(_AROUND).startswith(b"<") else body.decode("utf-8", errors="replace")
    try:
        for link in _MARKDOWN_LINK.finditer(text):
            listing.add(link[1], None)
    except _Full:
        problem = _TOO_MANY
    if not listing.entries:
        raise ParseError("no Markdown with links", subject=url)
    return Sitemap(entries=tuple(listing.entries.values()), problem=problem)


def list_inventory(body: bytes, *, url: str, max_bytes: int, max_urls: int) -> Sitemap:
    """Read the pages that an inventory of Sphinx (`objects.inv`) says its names stand on.

    Raises: ParseError: no inventory of version 2, or larger than *max_bytes* unpacked.
    """
    if not body.startswith(_INVENTORY):
        raise ParseError("no inventory of Sphinx", subject=url)
    packed = body.split(b"\n", 4)[-1]  # behind four lines of text
    unpacking, listing, problem = zlib.decompressobj(), _Listing(url, max_urls, DiscoveryWay.INVENTORY), ""
    try:
        text = unpacking.decompress(packed, max_bytes).decode("utf-8", errors="replace")
    except zlib.error as error:
        raise ParseError(f"a damaged inventory ({error})", subject=url) from None
    if not unpacking.eof:
        raise ParseError(f"an inventory that is cut short, or of more than {max_bytes} bytes", subject=url)
    named = (_INVENTORY_LINE.fullmatch(line.rstrip()) for line in text.split("\n"))
    places = dict.fromkeys(_page_of(match["name"], match["place"]) for match in named if match)
    try:
        for place in places:
            listing.add(place or ".", None)  # of a page that is its folder's index nothing is left
    except _Full:
        problem = _TOO_MANY
    return Sitemap(entries=tuple(listing.entries.values()), problem=problem)


def _page_of(name: str, place: str) -> str:
    page, mark, _ = place.partition("#")
    return page if mark or not page.endswith("$") else page[:-1] + name


def _unpack(body: bytes, max_bytes: int, url: str) -> bytes:
    decoder, unpacked = build_decoder("gzip"), bytearray()
    assert decoder is not None
    try:
        for piece in decoder.feed(body):
            unpacked += piece
            if len(unpacked) > max_bytes:
                raise ParseError(f"the sitemap unpacks to more than {max_bytes} bytes", subject=url)
    except FetchFault as fault:
        raise ParseError(fault.reason, subject=url) from None
    if not decoder.ended():
        raise ParseError("the packed sitemap is cut short", subject=url)
    return bytes(unpacked)


def _as_utf8(body: bytes) -> tuple[bytes, str | None]:
    """Return a body without what stands before it, and its encoding where that is not what it says.

    One that says UTF-16 and can be read to there is not.
    """
    if body.startswith(_UTF16):
        body = body.decode("utf-16", "replace").encode("utf-8", "replace")
    body = body.lstrip(_AROUND)
    start = body.find(b"<?xml", 0, _BEFORE)
    body = body[max(0, start) :]
    return body, "utf-8" if b"utf-16" in body[:200].partition(b"?>")[0].lower() else None


def _read_xml(body: bytes, listing: "_Listing", url: str, encoding: str | None) -> tuple["_Listing", str]:
    """Hear all of a file; one that is not well-formed again, mended."""
    doctype = _DOCTYPE.search(body)
    if doctype is not None and doctype[1] is not None:
        raise ParseError("a sitemap that declares entities is not read (they could unfold)", subject=url)
    listing.may_have_doctype = doctype is not None
    problem = _feed(body, listing, url, encoding)
    if not problem or problem == _TOO_MANY:
        return listing, problem
    again = listing.anew()
    return again, _feed(_mended(body), again, url, encoding)


def _mended(body: bytes) -> bytes:
    """Return a file that is not well-formed without bare ampersands, odd bytes and controls."""
    if _ELSE.match(body) is None:
        body = body.decode("utf-8", "replace").encode()
    return _BARE.sub(lambda match: match[1] or b"&amp;", body.translate(None, delete=_CONTROLS))


def _feed(body: bytes, listing: "_Listing", url: str, encoding: str | None) -> str:
    parser = etree.XMLParser(target=listing, encoding=encoding, resolve_entities=False, no_network=True)
    try:
        for at in range(0, len(body), _PIECE):
            parser.feed(body[at : at + _PIECE])
        parser.close()
    except _Refused as error:
        raise ParseError(str(error), subject=url) from None
    except _Full:
        return _TOO_MANY
    except etree.XMLSyntaxError as error:
        if not listing.is_sitemap:
            raise ParseError("neither a sitemap nor a feed", subject=url) from None
        return f"not well-formed, read up to there: {error.msg}"
    return ""


def _read_lines(body: bytes, listing: "_Listing", url: str) -> str:
    lines = body.decode("utf-8", errors="replace").removeprefix("\ufeff").split()
    if not lines or not lines[0].startswith(("http://", "https://")):
        raise ParseError("neither a sitemap nor a feed", subject=url)
    try:
        for line in lines:
            listing.add(line, None)
    except _Full:
        return _TOO_MANY
    return ""


class _Refused(Exception):
    pass


class _Full(Exception):
    pass


class _Listing:
    """Hears the parser's events; names are compared without namespace, which sites get wrong."""

    def __init__(self, url: str, max_urls: int, way: DiscoveryWay = DiscoveryWay.SITEMAP) -> None:
        self.entries: dict[str, SitemapEntry] = {}
        self.children: dict[str, None] = {}
        self.is_sitemap = False
        self.may_have_doctype = False
        self._url, self._way = url, way
        self._most = self._room = max_urls
        self._item = ""
        self._path: list[str] = []
        self._texts: dict[str, str] = {}
        self._text: list[str] | None = None
        self._length = 0
        self.problem, self.parts = "", 0
        self._forms: set[str] = set()
        self._place = cache(partial(canonical_url, base=url))  # each of a family is named by all of it

    def anew(self) -> "_Listing":
        """Return one that has heard nothing yet."""
        listing = _Listing(self._url, self._most, self._way)
        listing.may_have_doctype = self.may_have_doctype
        return listing

    def doctype(self, *_args: object) -> None:
        if not self.may_have_doctype:  # in an encoding in which it was not seen
            raise _Refused("a sitemap with a hidden DOCTYPE is not read (it could unfold or reach out)")

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = tag.rpartition("}")[2]
        if not self._path and name not in {"urlset", "sitemapindex", *_FEEDS}:
            raise _Refused("neither a sitemap nor a feed")
        if not self._path and name in _FEEDS:
            self._way = DiscoveryWay.FEED
        self.is_sitemap = True
        self._path.append(name)
        if name in _ITEMS and not self._item:
            self._item, self._texts, self._forms = name, {}, set()
        elif self._item:
            self._start_field(name, attributes)

    def _start_field(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "link" and "href" in attributes:
            if attributes.get("rel", "alternate") == "alternate":
                # A parser that resolves no entities leaves &amp; so.
                place = attributes["href"].replace("&#38;", "&")
                self._texts.setdefault("link", place)
                self._add_form(place, attributes.get("hreflang", ""))
        elif (name == _PLACES[self._item] or name in _DATES) and self._path[-2] == self._item:
            self._text, self._length = [], 0

    def data(self, text: str) -> None:
        if self._text is not None and self._length < _MAX_TEXT:
            self._text.append(text)
            self._length += len(text)

    def end(self, _tag: str) -> None:
        name = self._path.pop()
        if self._text is not None:
            self._texts.setdefault("lastmod" if name in _DATES else name, "".join(self._text).strip())
            self._text = None
        elif name == self._item and name not in self._path:
            self._end_item()

    def _end_item(self) -> None:
        item, self._item = self._item, ""
        place = self._texts.get(_PLACES[item], "")
        if item == "sitemap":
            self._add_child(place)
        elif place:
            self.add(place, self._texts.get("lastmod") or None)

    def _add_child(self, place: str) -> None:
        url = canonical_url(place, self._url)
        if place and url is not None:
            self.children[url] = None

    def _add_form(self, place: str, language: str) -> None:
        """Take up a form of a page in one language: `x-default` is for readers of any other."""
        if self._item != "url" or language.casefold() in ("", "x-default"):
            return
        if len(self._forms) >= MOST_FORMS:
            self.problem = _MANY_FORMS
        elif (form := self._place(place)) is not None:
            self._forms.add(form)

    def _family(self, url: str) -> tuple[str, ...]:
        """The forms of a page, as far as one owner has them, the page and the sitemap."""
        if not self._forms:
            return ()
        owner = registrable_domain(self._url)
        found = tuple(sorted(form for form in {url, *self._forms} if registrable_domain(form) == owner))
        return found if len(found) > 1 and url in found else ()

    def add(self, place: str, lastmod: str | None) -> None:
        url = canonical_url(place, self._url)
        if url is None:
            return
        if self._room <= 0:
            raise _Full
        self._room -= 1
        self.parts += "#" in place
        entry = SitemapEntry(url=url, lastmod=lastmod, ways=(self._way,), translations=self._family(url))
        entry = _joined(self.entries.get(url, entry), entry)
        if len(entry.translations) > MOST_FORMS + 1:
            self.problem = _MANY_FORMS
        else:
            self.entries[url] = entry

    def comment(self, _text: str) -> None:
        """Comments list nothing."""

    def close(self) -> None:
        """All has been heard."""


_LIST_NAME = re.compile(
    r"/[^/?#]*(?:\.(?:xml|rss|atom|rdf)|feed|rss|atom)/?(?:[?#]|$)|[?&]feed=", re.IGNORECASE
)


def _joined(held: SitemapEntry, entry: SitemapEntry) -> SitemapEntry:
    """Return a page with what both say of it, and the date of the first."""
    ways = tuple(sorted({*held.ways, *entry.ways}))
    return replace(held, ways=ways, translations=tuple(sorted({*held.translations, *entry.translations})))


def may_be_list(url: str) -> bool:
    """Whether an address is named as feeds and sitemaps are: `feed.xml`, `blog/feed/`, `news.rss`."""
    return _LIST_NAME.search(url.partition("://")[2]) is not None


LLMS = "/llms.txt"
"""A list in Markdown of what a site has for language models. Source: llmstxt.org."""

INVENTORY = "objects.inv"
"""What a manual that Sphinx made names, and on which page."""


_NO_LIST = frozenset({FetchFaultKind.POLICY, FetchFaultKind.UNSUPPORTED})
"""Faults of what is not for us, or no list; others hide what may be one."""


@dataclass(slots=True, kw_only=True)
class SitemapWalk:
    """Asks for the sitemaps of one site after another, each file once.

    `ask` raises a Fault for what robots.txt of the file's own site disallows.
    `report` hears of every sitemap that exists and cannot be read, and of every cap that was met. `lists` are
    the seeds that turned out to be feeds or sitemaps. `whole`: nothing was left unread that may be there.
    """

    limits: FetchLimits
    ask: Callable[[str], Awaitable[HttpResponse]]
    report: Callable[[Problem], None]
    entries: dict[str, SitemapEntry] = field(default_factory=dict)
    lists: dict[str, Sitemap] = field(default_factory=dict)
    whole: bool = True
    _seen: set[str] = field(default_factory=set)

    async def visit(self, site: str, policy: RobotsPolicy, *, seeds: Sequence[str] = ()) -> None:
        """Read what *site* names: robots.txt, /sitemap.xml, /llms.txt, lists and inventories of *seeds*."""
        if policy.fault is not None:
            self.whole = False
            return
        named = [canonical_url(place, f"{site}/") for place in policy.rules.sitemaps]
        queue = deque((url, 1) for url in named if url is not None)
        guess = f"{site}/sitemap.xml"
        guesses = {guess, *filter(may_be_list, seeds)}
        queue.extend((url, 1) for url in sorted(guesses))
        while queue:
            url, depth = queue.popleft()
            sitemap = await self._read(url, silent=url in guesses and url not in named)
            self._add(sitemap)
            if url in seeds and (sitemap.entries or sitemap.children):
                self.lists[url] = sitemap
            queue.extend((child, depth + 1) for child in self._deeper(url, sitemap, depth))
        folders = sorted({folder_of(seed) for seed in seeds if seed not in self.lists})
        for guess in (f"{site}{LLMS}", *(f"{folder}{INVENTORY}" for folder in folders)):
            if len(self._seen) < self.limits.sitemap_files:
                self._add(await self._read(guess, silent=True))

    def _add(self, sitemap: Sitemap) -> None:
        for entry in sitemap.entries:
            self.entries[entry.url] = _joined(self.entries.get(entry.url, entry), entry)

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
            self.whole = self.whole and fault.kind in _NO_LIST
        except ParseError as error:
            reason = error.message
        if not silent:
            self._report(url, reason)
        return Sitemap()

    async def _fetch(self, url: str, *, silent: bool) -> Sitemap:
        answer = await follow_redirects(url, hops=self.limits.robots_redirects, ask=self.ask)
        if answer is None or answer.body is None:
            if not silent:
                self._report(url, f"no sitemap there ({answer.status if answer else 'too many redirects'})")
            return Sitemap()
        cap, most = self.limits.sitemap.max_bytes, self.limits.sitemap_urls
        if url.endswith(LLMS):
            sitemap = parse_llms(answer.body, url=url, max_urls=most)
        elif url.endswith(INVENTORY):
            sitemap = list_inventory(answer.body, url=url, max_bytes=cap, max_urls=most)
        else:
            sitemap = parse_sitemap(answer.body, url=url, max_bytes=cap, max_urls=most)
        if sitemap.problem:
            self._report(url, sitemap.problem)
        return sitemap

    def _report(self, url: str, reason: str) -> None:
        self.whole = False
        self.report(Problem(url=url, reason=f"sitemap: {reason}"))
