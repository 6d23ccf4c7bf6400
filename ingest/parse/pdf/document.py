"""A PDF as a whole: bytes > pages > regions > graph, secrets hidden, chunks checked against print."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from ingest.parse.access import read_directives
from ingest.parse.chunking import CountTokens
from ingest.parse.links import CollectedLinks, FoundLink, collect_links
from ingest.parse.outline import cut_heading
from ingest.parse.pdf.assembly import PdfFacts, assemble_pdf
from ingest.parse.pdf.joining import document_words
from ingest.parse.pdf.landing import Places, find_inner_links
from ingest.parse.pdf.lines import Block
from ingest.parse.pdf.links import Entry, read_outline
from ingest.parse.pdf.metadata import choose_language, detect_language, file_date, stated_language
from ingest.parse.pdf.opening import attached_files, holds_point, open_pdf
from ingest.parse.pdf.page import PageContent
from ingest.parse.pdf.page_cache import PageCache
from ingest.parse.pdf.reading import PageReader, Recognise, read_pdf_pages
from ingest.parse.pdf.regions import build_regions
from ingest.parse.pdf.structure import build_structure
from ingest.parse.round_trip import parent_texts, squeezed, with_round_trips
from ingest.parse.secrets import Hiding, find_in_texts, hiding_of, kinds_of
from schemas.fragment import GraphFragment, ParseRequest
from schemas.nodes import BBox, Dated, PdfRegion, RegionType
from schemas.redaction import REDACTED
from schemas.secrets import Secret, find_tokens

_GROWN = 1.0
"""Points around a box: letters reach over the edge of their line."""

_CUT_LINES = 2
"""Lines of a chunk that may be printed in part: it begins in one and ends in one."""

_FOUND = "\0"

Printed = Sequence[tuple[BBox, str]]


def look_up_texts(fragment: GraphFragment, pages: Sequence[PageContent]) -> Iterator[bool | None]:
    """Say for each chunk whether the lines in its box contain its text.

    None where that cannot be told: a secret of the text was hidden, or it was recognised on a picture. What
    the part of a table repeats of its header stands further up, and is not looked for.

    The lines are those that MuPDF gave, before they are joined, ordered and cut. They come as the file stores
    them: lines of a neighbour may stand between those of a chunk, and a table may be stored column by column.
    So a text is found line by line, and a table, which is read row by row, word by word, each as often as
    the box prints it.
    """
    printed = {page.page_no: page.printed for page in pages}
    texts = parent_texts(fragment)
    regions = (node for node in fragment.nodes if isinstance(node, PdfRegion))
    tables = {region.id for region in regions if region.region_type is RegionType.TABLE}
    for chunk in fragment.chunks:
        own = texts[chunk.region_id or ""][slice(*chunk.offsets)]
        if REDACTED in own or chunk.ocr_conf is not None:
            yield None
            continue
        is_printed = _has_words if chunk.region_id in tables else _has_lines
        lines = printed.get(chunk.page_no or 0, ())
        yield chunk.bbox is not None and is_printed(own, chunk.bbox, lines)


def _has_words(text: str, box: BBox, lines: Printed) -> bool:
    inside = [said for line, said in lines if _meets(line, box)]
    missing = Counter(map(squeezed, text.split())) - Counter(map(squeezed, " ".join(inside).split()))
    # Two words that stand apart may have no space between them in the file.
    whole = "".join(map(squeezed, inside))
    return len(squeezed(text)) <= len(whole) and all(word in whole for word in missing)


def _has_lines(text: str, box: BBox, lines: Printed) -> bool:
    wanted = squeezed(text)
    pieces = [squeezed(said) for line, said in lines if _lies_in(line, box)]
    return wanted in "".join(pieces) or _is_made_of(wanted, pieces)


def _is_made_of(wanted: str, pieces: Sequence[str]) -> bool:
    """Whether a text is whole lines, each once, and parts of two."""
    left: list[str] = []
    for piece in sorted(filter(None, pieces), key=len, reverse=True):
        if piece in wanted:
            wanted = wanted.replace(piece, _FOUND, 1)
        else:
            left.append(piece)
    parts = [part for part in wanted.split(_FOUND) if part]
    return len(parts) <= _CUT_LINES and all(any(part in piece for piece in left) for part in parts)


def _lies_in(line: BBox, box: BBox) -> bool:
    """Whether the middle of a line does: its ends may reach over the edge of the page or of a table."""
    return holds_point(box, (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2, slack=_GROWN)


def _meets(line: BBox, box: BBox) -> bool:
    """Whether a line reaches into a box: one may run through several cells, or out of a table."""
    aside = min(line.x1, box.x1) - max(line.x0, box.x0)
    return aside > -_GROWN and min(line.y1, box.y1) - max(line.y0, box.y0) > -_GROWN


_BROKEN = 16
"""Signs of the last word of a line that may be the first part of a secret; few words are as long."""


def find_in_pages(pages: Sequence[PageContent], others: Iterable[str]) -> tuple[Secret, ...]:
    """Return the secrets of lines, tables, links and labels, and of *others* that the file says of itself."""
    blocks = [block for page in pages for block in page.blocks]
    texts = [*others, *("\n".join(line.text for line in block) for block in blocks)]
    for page in pages:
        texts.extend("\n".join("\t".join(row) for row in table.rows) for table in page.tables)
        texts.extend(f"{link.text} {link.uri or ''}" for link in page.links)
        texts.append(page.label or "")
    found = find_in_texts(texts)
    broken = (secret for block in blocks for secret in _find_broken(block))
    return tuple(dict.fromkeys((*found, *broken)))


def hide_in_pages(pages: tuple[PageContent, ...], hiding: Hiding) -> tuple[PageContent, ...]:
    """Hide secrets on pages; a link whose address carries one is left out."""
    return tuple(
        hiding.everywhere(
            replace(page, links=tuple(link for link in page.links if not hiding.is_in(link.uri)))
        )
        for page in pages
    )


def _find_broken(block: Block) -> Iterator[Secret]:
    """Yield tokens that show once the lines are put together without a space, as their parts with spaces."""
    text, seams = "", []
    for line in block:
        words = text.rsplit(None, 1)
        if words and not text[-1].isspace() and len(words[-1]) >= _BROKEN:
            seams.append(len(text))
        elif text:
            text += "\n"
        text += line.text.strip()
    for secret in find_tokens(text) if seams else ():
        start = text.index(secret.value)
        inside = [seam - start for seam in seams if start < seam < start + len(secret.value)]
        if inside:
            bounds = zip([0, *inside], [*inside, len(secret.value)], strict=True)
            yield replace(secret, value=" ".join(secret.value[low:high] for low, high in bounds))


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
    words = document_words(line for page in content.pages for block in page.blocks for line in block)
    structure = build_structure(content.pages, content.entries, content.stated_title)
    regions = build_regions(structure.parts, words=words, count_tokens=count_tokens)
    places = Places(regions)
    links = _links(content.pages, places, request)
    inner_links, left_out = find_inner_links(content.pages, places)
    robots = read_directives(request.x_robots_tag, robot=request.robot)  # a PDF has no other place for them
    facts = PdfFacts(
        title=cut_heading(structure.title) or cited_name(request),
        file_id=cited_name(request),
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


def cited_name(request: ParseRequest) -> str:
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
    reader = PageReader(recognise, request.ocr) if recognise is not None and request.ocr else None
    with open_pdf(data, subject=request.uri) as document:
        entries = read_outline(document)
        read = list(read_pdf_pages(document, reader=reader, cache=cache, outlined=bool(entries)))
        pages = tuple(page for page in read if isinstance(page, PageContent))
        warnings = [*_state(document, pages), *(item for item in read if isinstance(item, str))]
        warnings.extend(warning for page in pages for warning in page.warnings)
        return _Content(
            pages=pages,
            entries=entries,
            stated_title=_stated_title(document),
            lang=choose_language(stated_language(document), detect_language(_lines(pages))),
            modified=file_date(document),
            page_count=document.page_count,
            warnings=tuple(warnings),
        )


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
