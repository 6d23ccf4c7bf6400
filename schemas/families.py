"""Versions of one manual: what a source file says of them, and what a generation keeps of that."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionFamily:
    """The manual that a source has versions of, and how the version of a document is told.

    One of: `version`, which all documents are of; `url`, a pattern whose one group is the version in the
    address of a document (of a file, its path); `title`, the same in the `title` element of a page; `meta`,
    the name of a `meta` element that has it.
    """

    name: str
    version: str | None = None
    url: str | None = None
    title: str | None = None
    meta: str | None = None

    @property
    def reads_pages(self) -> bool:
        """Whether a page itself says of which version it is."""
        return self.title is not None or self.meta is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFamily:
    """What joins the documents of a source with their other versions, as a generation keeps it.

    `url` is the family's pattern; without one, documents are named by what follows the longest of `bases`,
    the folders that the source starts in.
    """

    source: str
    family: str
    url: str | None = None
    bases: tuple[str, ...] = ()


class Edition(NamedTuple):
    """A document that says of which version it is, and where it stands."""

    doc: str
    source: str
    version: str
    url: str | None
    path: str | None

    @property
    def address(self) -> str:
        """The path of a file, else the URL."""
        return self.path or self.url or self.doc


def one_of_each(found: Iterable[Edition]) -> tuple[Edition, ...]:
    """Return an edition of each document, in id order; parts of a book may have addresses of their own."""
    ordered = sorted(found, key=lambda one: (one.doc, one.url or "", one.path or ""), reverse=True)
    by_doc = {one.doc: one for one in ordered}
    return tuple(by_doc[doc] for doc in sorted(by_doc))


def _version_at(pattern: str, address: str) -> str | None:
    """Return the version that an address names; None where the pattern finds none."""
    found = re.search(pattern, address)
    return (found[1] or None) if found else None


def version_of(family: VersionFamily, address: str) -> str | None:
    """Return the version of a document by its address alone; None where none is said, or the page says it."""
    return _version_at(family.url, address) if family.url is not None else family.version


def joining_key(of: SourceFamily, edition: Edition) -> str:
    """Return what the versions of one document have in common: its address without the version."""
    address = edition.address
    if of.url is not None:
        found = re.search(of.url, address)
        return address[: found.start(1)] + address[found.end(1) :] if found else address
    if edition.path is not None:
        return address
    base = max((one for one in of.bases if address.startswith(one)), key=len, default="")
    return address[len(base) :] if base else re.sub(r"^[a-z]+://[^/]*/", "", address)


SETTLED: Final = ("stable", "latest", "current")
"""Names of the version that readers are meant to see, most settled first."""

AHEAD: Final = (
    *("dev", "devel", "develop", "development", "edge", "head", "main", "master", "next", "nightly"),
    *("preview", "trunk"),
)
"""Names of the version that is still to come."""
