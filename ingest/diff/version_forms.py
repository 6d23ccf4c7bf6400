"""Addresses of one page in several versions of a site: what they share, and which of them comes first."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from ingest.version_names import VersionRank, version_rank

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
