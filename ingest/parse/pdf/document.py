"""A PDF as a whole: bytes > pages > regions > the typed graph of one document."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from ingest.parse.chunking import CountTokens
from ingest.parse.language import choose_language, detect_language
from ingest.parse.links import CollectedLinks, FoundLink, collect_links
from ingest.parse.outline import cut_heading
from ingest.parse.pdf.assembly import PdfFacts, assemble_pdf
from ingest.parse.pdf.joining import words_of
from ingest.parse.pdf.landing import Places, find_inner_links
from ingest.parse.pdf.metadata import stated_date, stated_language
from ingest.parse.pdf.ocr import PageReader, Recognise
from ingest.parse.pdf.opening import attached_files, open_pdf
from ingest.parse.pdf.outline import Entry, read_outline
from ingest.parse.pdf.page import PageContent
from ingest.parse.pdf.page_cache import PageCache
from ingest.parse.pdf.reading import read_pages
from ingest.parse.pdf.reading_back import look_up_texts
from ingest.parse.pdf.regions import build_regions
from ingest.parse.pdf.secrets import find_in_pages, hide_in_pages
from ingest.parse.pdf.structure import build_structure
from ingest.parse.robots import read_directives
from ingest.parse.round_trip import with_round_trips
from ingest.parse.secrets import hiding_of, kinds_of
from schemas.dates import Dated
from schemas.fragment import GraphFragment, ParseRequest

_MACHINE_TITLE = re.compile(
    r"(?:untitled|unbenannt|\(?unspecified\)?|\(?anonymous\)?|document\d*|microsoft word - .*|.*\.\w{2,4})",
    re.IGNORECASE,
)


_REPAIRED = "repaired"

_MOST_NAMED = 20
"""Pages and files that a warning names."""

_RECOGNISED = "`ocr: true` in the source file has it recognised; that needs Tesseract (Debian: tesseract-ocr)"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Content:
    """Everything read from the file; from here on nothing touches pymupdf."""

    pages: tuple[PageContent, ...]
    entries: tuple[Entry, ...]
    stated_title: str
    lang: str | None
    modified: Dated | None
    page_count: int
    warnings: tuple[str, ...]


def parse_pdf(
    data: bytes,
    request: ParseRequest,
    *,
    count_tokens: CountTokens,
    recognise: Recognise | None = None,
    cache: PageCache | None = None,
) -> GraphFragment:
    """Parse a PDF into PdfDoc > PdfPage > PdfRegion > Chunk.

    Chunks never cross a page; boxes are in PDF points, origin top-left of the CropBox, rotation 0.
    A page that cannot be read is left out with a warning; "empty" and "image_only" are warnings too.
    Pages without a text layer are read by *recognise* where the request names languages. Pages that the
    *cache* knows are not read; the fragment is the same.
    Raises: ParseError: not a PDF, broken beyond repair, or locked ("needs_password").
    """
    content, secrets = _without_secrets(_read(data, request, recognise, cache))
    words = words_of(line for page in content.pages for block in page.blocks for line in block)
    structure = build_structure(content.pages, content.entries, content.stated_title)
    regions = build_regions(structure.parts, words=words, count_tokens=count_tokens)
    places = Places(regions)
    links = _links(content.pages, places, request)
    inner_links, left_out = find_inner_links(content.pages, places)
    robots = read_directives(request.x_robots_tag, robot=request.robot)  # a PDF has no other place for them
    facts = PdfFacts(
        title=cut_heading(structure.title) or file_name(request),
        file_id=file_name(request),
        page_count=content.page_count,
        lang=content.lang,
        modified=content.modified,
        warnings=(*content.warnings, *links.warnings, *left_out),
        noindex=robots.noindex,
        nofollow=robots.nofollow,
    )
    fragment = assemble_pdf(
        content.pages, regions, links, inner_links, request=request, facts=facts, count_tokens=count_tokens
    )
    return replace(with_round_trips(fragment, look_up_texts(fragment, content.pages)), secrets=secrets)


def file_name(request: ParseRequest) -> str:
    """Return the name a citation shows: the last part of the path, or of the URL."""
    path = request.path or unquote(urlsplit(request.url or request.uri).path)
    return PurePosixPath(path).name or request.uri


def _without_secrets(content: _Content) -> tuple[_Content, tuple[str, ...]]:
    """Hide secrets before anything is made of the lines; also gives the kind of each."""
    stated = (content.stated_title, content.lang or "", *content.warnings)
    found = find_in_pages(content.pages, [*stated, *(entry.title for entry in content.entries)])
    if not found:
        return content, ()
    hiding = hiding_of(found)
    pages = hide_in_pages(content.pages, hiding)
    return replace(hiding.everywhere(replace(content, pages=())), pages=pages), kinds_of(found)


def _read(
    data: bytes, request: ParseRequest, recognise: Recognise | None, cache: PageCache | None
) -> _Content:
    content = _read_once(data, request, recognise, cache)
    if cache is None or _REPAIRED not in content.warnings:
        return content
    # A file is repaired where reading stumbles over its damage: what a page gives then depends on the others.
    if not cache.counts.reused:
        cache.keep_none()
        return content
    cache.forget()
    return _read_once(data, request, recognise, cache)


def _read_once(
    data: bytes, request: ParseRequest, recognise: Recognise | None, cache: PageCache | None
) -> _Content:
    document = open_pdf(data, subject=request.uri)
    reader = PageReader(recognise, request.ocr) if recognise is not None and request.ocr else None
    try:
        entries = read_outline(document)
        read = list(read_pages(document, reader=reader, cache=cache, outlined=bool(entries)))
        pages = tuple(page for page in read if isinstance(page, PageContent))
        warnings = [*_state(document, pages), *(item for item in read if isinstance(item, str))]
        warnings.extend(warning for page in pages for warning in page.warnings)
        return _Content(
            pages=pages,
            entries=entries,
            stated_title=_stated_title(document),
            lang=choose_language(stated_language(document), detect_language(_lines(pages))),
            modified=stated_date(document),
            page_count=document.page_count,
            warnings=tuple(warnings),
        )
    finally:
        document.close()


def _lines(pages: tuple[PageContent, ...]) -> Iterator[str]:
    return (line.text for page in pages for block in page.blocks for line in block)


def _state(document: Any, pages: tuple[PageContent, ...]) -> Iterator[str]:
    if document.is_repaired:
        yield _REPAIRED
    if not document.page_count:
        yield "empty"
    elif not any(page.blocks for page in pages):
        yield "image_only"
        yield f"no text layer; {_RECOGNISED}"
    garbled = [page for page in pages if page.garbled]
    if garbled:
        yield f"text not readable, fonts give other letters than they print, {_named(garbled)}; {_RECOGNISED}"
    if names := attached_files(document):
        yield f"{len(names)} attachments not read: {', '.join(names[:_MOST_NAMED])}"
    hidden = [page for page in pages if page.hidden]
    if hidden:
        letters = sum(page.hidden for page in hidden)
        yield f"hidden text: what readers do not see is left out, {letters} signs on {_named(hidden)}"


def _named(pages: Sequence[PageContent]) -> str:
    """Name pages in a warning, the first of many."""
    numbers = ", ".join(str(page.page_no) for page in pages[:_MOST_NAMED])
    more = f" and {len(pages) - _MOST_NAMED} more" if len(pages) > _MOST_NAMED else ""
    return f"{'page' if len(pages) == 1 else 'pages'} {numbers}{more}"


def _stated_title(document: Any) -> str:
    title = " ".join(((document.metadata or {}).get("title") or "").replace("\0", "").split())
    return "" if _MACHINE_TITLE.fullmatch(title) else title


def _links(pages: tuple[PageContent, ...], places: Places, request: ParseRequest) -> CollectedLinks:
    """Links to other documents, by where they stand; those inside this one become edges at once.

    Two may begin at one place of the text; each has a rectangle of its own.
    """
    found = (
        FoundLink(
            link.uri,
            link.text,
            places.position(at),
            key=(places.place(at, link), page.page_no, link.bbox),
        )
        for page in pages
        for link in page.links
        if link.uri
        for at in [places.standing(page.page_no, link.bbox)]
    )
    return collect_links(found, base=request.url or request.uri)
