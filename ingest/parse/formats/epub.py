"""EPUB: a book is one document, and each file of its spine is a Page in it, read as HTML is.

A place in it is an EPUB Canonical Fragment Identifier (https://idpf.org/epub/linking/cfi/), the fragment that
its media type defines: it names the chapter and the element in it, and reading systems open it.

Source: EPUB 3.3, W3C, sections 4 (container) and 5 (package document); EPUB 2.0.1 for the NCX.
"""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit
from zipfile import ZipFile

from ingest.dates import dated
from ingest.parse.access import names_access_in_markup, names_access_in_properties
from ingest.parse.formats.sniffing import ZIP_END, ZIP_START, is_binary, open_archive, read_member, read_xml
from ingest.parse.secrets import find_in_markup
from schemas.errors import ParseError
from schemas.formats import DocumentFormat, ParseTools, SizeClass, media_type
from schemas.fragment import GraphFragment, ParseRequest
from schemas.nodes import DateOrigin

if TYPE_CHECKING:
    from ingest.parse.html.whole import ConvertedBody
    from ingest.parse.links import FoundLink
    from ingest.parse.outline import Part
    from ingest.parse.page_graph import PagePart

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


_TYPE = "application/epub+zip"
_MARK = b"mimetypeapplication/epub+zip"
"""What stands from byte 30 of the file on (OCF 3.3, 4.3)."""

_MARKUP = re.compile(r".*\.(?:xhtml|html|htm|opf|ncx)", re.IGNORECASE)
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_SPECIAL = re.compile(r"[\^\[\](),;=]")


def _recognise(head: bytes, content_type: str, name: str) -> bool:
    is_named = name.endswith(".epub") or media_type(content_type) == _TYPE
    if head.startswith(ZIP_START):
        return is_named or head[30:].startswith(_MARK)
    return is_named and is_binary(head)


def _parse(data: bytes, request: ParseRequest, tools: ParseTools) -> GraphFragment:
    from ingest.parse.html.whole import assemble_document, read_tree

    archive = open_archive(data, subject=request.uri)
    if CONTAINER not in archive.namelist():
        raise ParseError(f"no EPUB: there is no {CONTAINER} in it", subject=request.uri)
    book = read_package(archive, subject=request.uri)
    trees = {chapter.path: _tree(archive, chapter, request.uri) for chapter in book.chapters}
    places = {one.path: _name_places(trees[one.path], one.step) for one in book.chapters}
    parts: list[Part] = []
    links: list[FoundLink] = []
    pages: list[PagePart] = []
    for chapter in book.chapters:
        body = read_tree(trees[chapter.path])
        own = tuple(_links(chapter, body, places, request.uri))
        parts += _chapter_parts(chapter, body)
        links += own
        pages.append(_page_part(chapter, body, own, request.uri))
    return assemble_document(
        tuple(parts),
        tuple(links),
        pages=tuple(pages),
        request=request,
        kind=FORMAT.name,
        title=book.title,
        lang=book.lang,
        modified=dated(book.modified, DateOrigin.EPUB) or dated(book.published, DateOrigin.PUBLISHED),
        warnings=tuple(
            f"{name} cannot be unpacked; it was left out" for name, read in _markup(archive) if read is None
        ),
        count_tokens=tools.count_tokens,
    )


def _tree(archive: ZipFile, chapter: Chapter, subject: str) -> Any:
    from ingest.parse.html.charset import cut_markup, decode_html
    from ingest.parse.html.dom import parse_tree

    markup, _ = cut_markup(read_member(archive, chapter.path, subject=subject))
    return parse_tree(decode_html(markup, None), subject=subject)


def _name_places(root: Any, step: str) -> dict[str, str]:
    """Give what has an id, and every heading, its CFI as id; return that of each id, and for "" the start.

    Steps count elements by twos; the id in brackets lets a reading system find it though the path has moved.
    """
    found = {"": f"epubcfi({step}!/4)"}
    paths = {root: ""}
    for element in root.iter():
        for number, child in enumerate(element, start=1):
            mark = f"[{_escaped(child.get('id'))}]" if child.get("id") else ""
            paths[child] = f"{paths[element]}/{2 * number}{mark}"
    for element, path in paths.items():
        name = element.get("id")
        if name or element.tag in _HEADINGS:
            element.set("id", f"epubcfi({step}!{path})")
            found.setdefault(name or path, element.get("id"))
    return found


def _escaped(name: str) -> str:
    return _SPECIAL.sub(lambda sign: f"^{sign[0]}", name)


def _chapter_parts(chapter: Chapter, body: "ConvertedBody") -> "Iterator[Part]":
    """The parts of a chapter; of one that has a name of its own, all headings are below the first.

    Some publishers write a chapter and its sections with headings of one level.
    """
    from ingest.parse.outline import BoxEnd, BoxStart, Heading, PageStart

    start = f"epubcfi({chapter.step}!/4)"
    yield PageStart(fragment=start)
    parts = list(body.parts)
    if chapter.label and parts and not isinstance(parts[0], Heading):
        parts.insert(0, Heading(text=chapter.label, level=1, fragment=start))
    if not chapter.is_whole:
        yield from parts
        return
    yield from parts[:1]
    yield BoxStart()
    yield from parts[1:]
    yield BoxEnd()


def _page_part(
    chapter: Chapter, body: "ConvertedBody", links: "tuple[FoundLink, ...]", uri: str
) -> "PagePart":
    """Return what a chapter is: called by the table of contents, else by a heading, else by its file."""
    from ingest.parse.links import collect_links
    from ingest.parse.outline import Heading
    from ingest.parse.page_graph import PagePart

    heading = next((part.text for part in body.parts if isinstance(part, Heading)), "")
    return PagePart(
        name=chapter.path,
        title=chapter.label or heading or PurePosixPath(chapter.path).stem,
        fragment=f"epubcfi({chapter.step}!/4)",
        prefix=f"epubcfi({chapter.step}!",
        links=collect_links(links, base=uri).links,
    )


def _links(
    chapter: Chapter, body: "ConvertedBody", places: dict[str, dict[str, str]], uri: str
) -> "Iterator[FoundLink]":
    """Links to other documents as they are, those inside the book to the place that they lead to."""
    for link in body.links:
        if urlsplit(link.href).scheme:
            yield link
            continue
        path, fragment = inside(chapter.path, link.href)
        ids = places.get(path)
        if ids is not None:
            yield replace(link, href=f"{uri}#{quote(ids.get(fragment, ids['']))}")


def _unread_secrets(data: bytes) -> tuple[str, ...]:
    """What stands in chapters and in the package, also where nobody reads it."""
    found = (read for _, read in _markup(open_archive(data, subject="")))
    return find_in_markup(b"\n".join(read for read in found if read is not None))


def _names_access(data: bytes, _content_type: str | None) -> bool:
    from ingest.parse.html.charset import decode_html

    return any(
        names_access_in_properties(read)
        if name.lower().endswith(".opf")
        else names_access_in_markup(decode_html(read, None))
        for name, read in _markup(open_archive(data, subject=""))
        if read is not None
    )


def _markup(archive: ZipFile) -> Iterator[tuple[str, bytes | None]]:
    """Each file of markup by name, of the spine or not; None for one that cannot be unpacked."""
    for name in filter(_MARKUP.fullmatch, archive.namelist()):
        try:
            yield name, read_member(archive, name, subject="")
        except ParseError:
            yield name, None


FORMAT = DocumentFormat(
    name="epub",
    version="3",
    parse=_parse,
    recognise=_recognise,
    suffixes=(".epub",),
    media_types=(_TYPE,),
    shared_types=("application/zip", "application/x-zip-compressed"),
    size=SizeClass.FILE,
    unread_secrets=_unread_secrets,
    names_access=_names_access,
    end=ZIP_END,
)
