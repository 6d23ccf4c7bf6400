"""What an EPUB holds: its title, its chapters in reading order, and what its table of contents calls them.

Source: EPUB 3.3, W3C, sections 4 (container) and 5 (package document); EPUB 2.0.1 for the NCX.
"""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit
from zipfile import ZipFile

from ingest.parse.formats.archive import read_member
from schemas.errors import ParseError

CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_CHAPTERS = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """A file of the spine; `step` is where its item stands in the package document, as a CFI says it.

    `label` is what the table of contents calls it; `is_whole`: what else it lists of the file is below that.
    """

    path: str
    label: str
    step: str
    is_whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """A package: what it says of itself, and its chapters in reading order."""

    title: str
    lang: str | None
    modified: str
    published: str
    chapters: tuple[Chapter, ...]


def read_package(archive: ZipFile, *, subject: str) -> Book:
    """Read the package document. Raises: ParseError: it is damaged, or a chapter is encrypted."""
    container = read_xml(archive, CONTAINER, subject=subject)
    path = next(
        (root.get("full-path") for root in container.iter("{*}rootfile") if root.get("full-path")), ""
    )
    package = read_xml(archive, path, subject=subject)
    items = {item.get("id"): item for item in package.iter("{*}item")}
    labels = _labels(archive, path, items, subject)
    chapters = tuple({one.path: one for one in _chapters(package, path, items, labels)}.values())
    if not chapters:
        raise ParseError("no EPUB: its spine names no chapter", subject=subject)
    if locked := {chapter.path for chapter in chapters} & _encrypted(archive, subject):
        raise ParseError(f"encrypted: {min(locked)} cannot be read", subject=subject)
    return Book(
        title=_said(package, "title"),
        lang=_said(package, "language")[:35] or None,
        modified=_modified(package),
        published=_said(package, "date"),
        chapters=chapters,
    )


def _modified(package: Any) -> str:
    """When the package was last changed (EPUB 3.3, 5.5.4)."""
    metas = (meta for meta in package.iter("{*}meta") if meta.get("property") == "dcterms:modified")
    return next(((meta.text or "").strip() for meta in metas), "")


def read_xml(archive: ZipFile, path: str, *, subject: str) -> Any:
    """Parse a member without following anything that it names. Raises: ParseError."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        return etree.fromstring(read_member(archive, path, subject=subject), parser)
    except etree.XMLSyntaxError as error:
        raise ParseError(f"damaged: {path} is not XML ({error})", subject=subject) from error


def inside(base: str, href: str) -> tuple[str, str]:
    """Return the member that *href* of the member *base* leads to, and the fragment."""
    parts = urlsplit(href)
    folder = posixpath.dirname(base)
    path = posixpath.normpath(posixpath.join(folder, unquote(parts.path))) if parts.path else base
    return path, unquote(parts.fragment)


def _chapters(
    package: Any, path: str, items: dict[Any, Any], labels: dict[str, tuple[str, bool]]
) -> Iterator[Chapter]:
    spine = next(package.iter("{*}spine"), None)
    if spine is None:
        return
    spine_step = 2 * (package.index(spine) + 1)
    for number, reference in enumerate(spine.iterchildren("{*}itemref"), start=1):
        item = items.get(reference.get("idref"))
        if item is None or item.get("media-type") not in _CHAPTERS or _is_nav(item):
            continue
        member, _ = inside(path, item.get("href") or "")
        named = f"[{reference.get('id')}]" if reference.get("id") else ""
        label, is_whole = labels.get(member, ("", False))
        step = f"/{spine_step}/{2 * number}{named}"
        yield Chapter(path=member, label=label, step=step, is_whole=is_whole)


def _labels(archive: ZipFile, path: str, items: dict[Any, Any], subject: str) -> dict[str, tuple[str, bool]]:
    """What the table of contents calls each file first, and whether its other entries for it are below."""
    names = set(archive.namelist())
    found: dict[str, tuple[str, bool]] = {}
    for item in items.values():
        member, _ = inside(path, item.get("href") or "")
        is_table = _is_nav(item) or item.get("media-type") == "application/x-dtbncx+xml"
        if member not in names or not is_table:
            continue
        tree = read_xml(archive, member, subject=subject)
        listed: dict[str, list[tuple[str, Any]]] = {}
        for href, label, entry in _nav_entries(tree) if _is_nav(item) else _ncx_entries(tree):
            listed.setdefault(inside(member, href)[0], []).append((label, entry))
        for file, ((label, first), *others) in listed.items():
            found.setdefault(file, (label, all(first in entry.iterancestors() for _, entry in others)))
    return found


Entry = tuple[str, str, Any]
"""Where an entry of a table of contents leads, what it says, and the element that has its sub-entries."""


def _nav_entries(tree: Any) -> Iterator[Entry]:
    toc = next((one for one in tree.iter("{*}nav") if "toc" in str(dict(one.attrib))), tree)
    for link in toc.iter("{*}a"):
        yield link.get("href") or "", _text_of(link), next(link.iterancestors("{*}li"), link)


def _ncx_entries(tree: Any) -> Iterator[Entry]:
    for point in tree.iter("{*}navPoint"):
        content, label = point.find("{*}content"), point.find("{*}navLabel")
        if content is not None and label is not None:
            yield content.get("src") or "", _text_of(label), point


def _text_of(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())


def _is_nav(item: Any) -> bool:
    """Whether a file is the book's table of contents, which is no chapter."""
    return "nav" in (item.get("properties") or "").split()


def _encrypted(archive: ZipFile, subject: str) -> set[str]:
    if _ENCRYPTION not in archive.namelist():
        return set()
    told = read_xml(archive, _ENCRYPTION, subject=subject).iter("{*}CipherReference")
    return {unquote(reference.get("URI") or "") for reference in told}


def _said(package: Any, name: str) -> str:
    """What Dublin Core says of the book."""
    found = next(package.iter("{http://purl.org/dc/elements/1.1/}" + name), None)
    return "" if found is None else _text_of(found)
