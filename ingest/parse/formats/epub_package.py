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
    """A file of the spine; `step` is where its item stands in the package document, as a CFI says it."""

    path: str
    label: str
    step: str


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
    labels = dict(_labels(archive, path, items, subject))
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
        raise ParseError(f"damaged: {path} is no XML ({error})", subject=subject) from error


def inside(base: str, href: str) -> tuple[str, str]:
    """Return the member that *href* of the member *base* leads to, and the fragment."""
    parts = urlsplit(href)
    folder = posixpath.dirname(base)
    path = posixpath.normpath(posixpath.join(folder, unquote(parts.path))) if parts.path else base
    return path, unquote(parts.fragment)


def _chapters(package: Any, path: str, items: dict[Any, Any], labels: dict[str, str]) -> Iterator[Chapter]:
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
        yield Chapter(path=member, label=labels.get(member, ""), step=f"/{spine_step}/{2 * number}{named}")


def _labels(archive: ZipFile, path: str, items: dict[Any, Any], subject: str) -> Iterator[tuple[str, str]]:
    """What the table of contents calls each file; of several entries for one the first counts."""
    names = set(archive.namelist())
    found: list[tuple[str, str]] = []
    for item in items.values():
        member, _ = inside(path, item.get("href") or "")
        if member not in names:
            continue
        if _is_nav(item):
            tree = read_xml(archive, member, subject=subject)
            toc = next((one for one in tree.iter("{*}nav") if "toc" in str(dict(one.attrib))), tree)
            found += [
                (inside(member, link.get("href") or "")[0], " ".join("".join(link.itertext()).split()))
                for link in toc.iter("{*}a")
            ]
        elif item.get("media-type") == "application/x-dtbncx+xml":
            for point in read_xml(archive, member, subject=subject).iter("{*}navPoint"):
                content, label = point.find("{*}content"), point.find("{*}navLabel")
                if content is not None and label is not None:
                    text = " ".join("".join(label.itertext()).split())
                    found.append((inside(member, content.get("src") or "")[0], text))
    yield from reversed(found)


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
    return "" if found is None else " ".join("".join(found.itertext()).split())
