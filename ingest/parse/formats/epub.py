"""EPUB: a book is one document, and each file of its spine a Page in it, read as HTML is.

A place in it is an EPUB Canonical Fragment Identifier (https://idpf.org/epub/linking/cfi/), the fragment that
its media type defines: it names the chapter and the element in it, and reading systems open it.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit
from zipfile import ZipFile

from ingest.dates import dated
from ingest.parse.formats.archive import ZIP_END, ZIP_START, open_archive, read_member
from ingest.parse.formats.epub_package import CONTAINER, Chapter, inside, read_package
from ingest.parse.formats.sniffing import is_binary
from ingest.parse.secrets import find_in_markup
from ingest.parse.stated_access import names_access_in_markup, names_access_in_properties
from schemas.dates import DateOrigin
from schemas.errors import ParseError
from schemas.formats import DocumentFormat, ParseTools, SizeClass, media_type
from schemas.fragment import GraphFragment, ParseRequest

if TYPE_CHECKING:
    from ingest.parse.html.whole import ConvertedBody
    from ingest.parse.links import FoundLink
    from ingest.parse.outline import Part
    from ingest.parse.page_facts import PagePart

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
    from ingest.parse.formats.converted import assemble_document
    from ingest.parse.html.whole import read_tree

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
    from ingest.parse.html.charset import decode_html
    from ingest.parse.html.dom import parse_tree
    from ingest.parse.html.prescan import cut_markup

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
    from ingest.parse.page_facts import PagePart

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
