"""Addresses of other forms of a page: Markdown beside it, printable ones, the page in other versions."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from ingest.urls import VersionRank, version_rank

_MARKDOWN = re.compile(r"(?:\.(?:md|mdx|markdown)|\.(?:html?|md)\.txt)\Z", re.IGNORECASE)
_INDEX = re.compile(r"/(?:index|readme)\Z", re.IGNORECASE)
_START = re.compile(r"/(?:index\.(?:html?|php))?\Z", re.IGNORECASE)
_PAGE = re.compile(r"\.html?\Z", re.IGNORECASE)


def markdown_forms(uri: str) -> tuple[str, ...]:
    """Return the addresses of pages whose Markdown *uri* may be: `/page.md` of `/page` and `/page/`."""
    path, mark, query = uri.partition("?")
    match = _MARKDOWN.search(path)
    return tuple(f"{page}{mark}{query}" for page in _pages(path[: match.start()])) if match else ()


def _pages(name: str) -> Iterator[str]:
    yield name
    if not _PAGE.search(name):
        yield from (f"{name}/", f"{name}.html", f"{name}.htm", f"{name}/index.html")
        if start := _INDEX.search(name):
            yield from (name[: start.start()], f"{name[: start.start()]}/")
    elif start := _START.search(name):
        yield from (name[: start.start()], f"{name[: start.start()]}/")


def slash_forms(uri: str) -> tuple[str, ...]:
    """Return the addresses under which servers send one file: with a final slash, without, by its name."""
    path, mark, query = uri.partition("?")
    start = _START.search(path)
    name = path[: start.start()] if start else path
    forms = (name, *(f"{name}/{end}" for end in ("", "index.html", "index.htm", "index.php")))
    return tuple(f"{form}{mark}{query}" for form in forms if form != path and not form.endswith(":/"))


_PRINT = r"print(?:able|er|view|[-_]?friendly|er[-_]?friendly|[-_]?version)?"
_PAIR = re.compile(
    rf"(?:{_PRINT}(?:=[^&]*)?|(?:view|format|mode|layout|media|action|output|display|tmpl|style)={_PRINT})\Z",
    re.IGNORECASE,
)
_FOLDER = re.compile(rf"/{_PRINT}(?=/|\Z)", re.IGNORECASE)
_NAME = re.compile(rf"[-_.]{_PRINT}(?=(?:\.[a-z0-9]{{2,5}})?\Z)", re.IGNORECASE)


def plain_forms(uri: str) -> tuple[str, ...]:
    """Return the addresses whose printable form *uri* may be, by a query, a folder or a name.

    `/page?print=1`, `/print/page`, `/page/print` and `/page-print.html` print `/page` or `/page.html`.
    """
    path, _, query = uri.partition("?")
    return tuple(dict.fromkeys(form for form in _forms(path, query) if form != uri))


def _forms(path: str, query: str) -> Iterator[str]:
    pairs = query.split("&") if query else []
    kept = "&".join(pair for pair in pairs if not _PAIR.match(pair))
    rest = f"?{kept}" if kept else ""
    if kept != query:
        yield path + rest
    site = re.match(r"[a-z]+://[^/]*", path)
    start = site.end() if site else 0
    for pattern in (_FOLDER, _NAME):
        if match := pattern.search(path, start):
            plain = path[: match.start()] + path[match.end() :]
            yield plain + rest
            if not plain.endswith("/"):
                yield f"{plain}/{rest}"


_SITE = re.compile(r"[a-z]+://[^/]*/")


class VersionForm(NamedTuple):
    """An address without the folders that name a version, and the ranks of these; the plain one has none."""

    page: str
    ranks: tuple[VersionRank, ...]


def version_forms(uris: Iterable[str]) -> Mapping[str, VersionForm]:
    """Take the versions out of addresses: `/docs/1.2/page` and `/docs/latest/page` are both `/docs/page`."""
    folders = {uri: tuple(_folders(uri)) for uri in uris}
    above = {before for found in folders.values() for before, name in found if version_rank(name) is not None}
    return {uri: _form(uri, found, above) for uri, found in folders.items()}


def _folders(uri: str) -> Iterator[tuple[str, str]]:
    """Yield each folder of an address: what stands before it, and its name."""
    path = uri.partition("?")[0]
    site = _SITE.match(path)
    at = site.end() if site else 0
    while (end := path.find("/", at)) >= 0:
        yield path[:at], path[at:end]
        at = end + 1


def _form(uri: str, folders: Iterable[tuple[str, str]], above: Collection[str]) -> VersionForm:
    page, ranks, at = [], [], 0
    for before, name in folders:
        rank = version_rank(name, beside_version=before in above)
        if rank is not None:
            page.append(uri[at : len(before)])
            at = len(before) + len(name) + 1
            ranks.append(rank)
    return VersionForm("".join((*page, uri[at:])), tuple(ranks))
