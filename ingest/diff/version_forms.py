"""Addresses of one page in several versions of a site: what they share, and which of them comes first."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple
from urllib.parse import unquote

_SETTLED = ("stable", "latest", "current")
"""Names of the version that readers are meant to see, most settled first."""

_AHEAD = (
    "dev",
    "devel",
    "develop",
    "development",
    "edge",
    "head",
    "main",
    "master",
    "next",
    "nightly",
    "trunk",
)
"""Names of the version that is still to come."""

_BARE = re.compile(r"\d{1,3}")
"""A version where others stand beside it; else the number of an item. Four digits are a year."""

_NUMBER = re.compile(
    r"(?:v|ver|version|release|rel)[-_.]?(?P<prefixed>\d{1,3})"
    r"|(?:(?:v|ver|version|release|rel)[-_.]?)?(?P<dotted>\d+(?:\.(?:\d+|x))+)"
    r"(?P<early>[-_.]?(?:a|b|rc|alpha|beta|dev|pre|preview)[-_.]?\d*)?"
)
"""`v2`, `1.2`, `release-2.0`, `1.x`, `3.0rc1`."""

_SITE = re.compile(r"[a-z]+://[^/]*/")
_PLACES = 8

Rank = tuple[int, int, tuple[int, ...]]
"""The lower comes first: settled, released, to come; then by name or not released yet; then the newest."""


class VersionForm(NamedTuple):
    """An address without the folders that name a version, and the ranks of these; the plain one has none."""

    page: str
    ranks: tuple[Rank, ...]


def version_forms(uris: Iterable[str]) -> Mapping[str, VersionForm]:
    """Take the versions out of addresses: `/docs/1.2/page` and `/docs/latest/page` are both `/docs/page`."""
    folders = {uri: tuple(_folders(uri)) for uri in uris}
    above = {before for found in folders.values() for before, name in found if _sure_rank(name) is not None}
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
        rank = _sure_rank(name)
        if rank is None and before in above and _BARE.fullmatch(name):
            rank = _released(name)
        if rank is not None:
            page.append(uri[at : len(before)])
            at = len(before) + len(name) + 1
            ranks.append(rank)
    return VersionForm("".join((*page, uri[at:])), tuple(ranks))


def _sure_rank(folder: str) -> Rank | None:
    name = unquote(folder).lower()
    if name in _SETTLED:
        return 1, _SETTLED.index(name), ()
    if name in _AHEAD:
        return 3, 0, ()
    found = _NUMBER.fullmatch(name)
    return _released(found["prefixed"] or found["dotted"], early=bool(found["early"])) if found else None


def _released(number: str, *, early: bool = False) -> Rank:
    # `1.x` is what comes after all of 1.
    parts = [-(10**9) if part == "x" else -int(part) for part in number.split(".")][:_PLACES]
    return 2, early, (*parts, *(0,) * (_PLACES - len(parts)))
