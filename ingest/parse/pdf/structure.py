"""Sheets to parts in reading order, each under its heading path."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ingest.parse.outline import MAX_DEPTH, cut_heading
from ingest.parse.pdf.captions import drawings_of_labels
from ingest.parse.pdf.headings import (
    FONT,
    FONT_LEVEL,
    NONE,
    PdfHeading,
    Type,
    body_size,
    find_by_font,
    locate_entries,
    numbered_depth,
    rank_sizes,
)
from ingest.parse.pdf.lines import Block
from ingest.parse.pdf.links import Entry, title_key
from ingest.parse.pdf.order import box_of, column_of
from ingest.parse.pdf.page import PageContent
from ingest.parse.pdf.pictures import Picture
from ingest.parse.pdf.sheet import Margin, Sheet, Title, build_sheets
from ingest.parse.pdf.tables import Table
from ingest.parse.wording import dotted_number, strip_numbering
from schemas.nodes import BBox


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A stretch of a page: lines, a table or a picture.

    `heading` is set where the part prints one (`heading_path` then ends with it, and `number` is its number);
    `lines` is empty where the outline names a heading that is not printed. `caption` marks the title that is
    stored with a table. `margin` marks running lines, `contents` lines of a table of contents or an index;
    neither is content.
    """

    page_no: int
    bbox: BBox
    lines: Block = ()
    table: Table | None = None
    picture: Picture | None = None
    heading: PdfHeading | None = None
    caption: bool = False
    column: int = 0
    margin: Margin | None = None
    contents: bool = False
    formula: bool = False
    heading_path: tuple[str, ...] = ()
    number: str = ""
    confidence: float = NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """The parts of a document in reading order, and its title as far as its pages tell."""

    parts: tuple[Part, ...]
    title: str


def build_structure(pages: Sequence[PageContent], entries: Sequence[Entry], title: str) -> Structure:
    """Set the place and the headings of every part.

    *title* is the stated title, or empty: then the first heading is it, where nothing else is set in its
    style. The title itself never stands in a heading path.
    """
    sheets = build_sheets(pages)
    type_ = _type_of(sheets, has_outline=bool(entries))
    by_page: dict[int, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_page[entry.page_no].append(entry)
    # Large type before the first bookmark is the title page.
    first = min(by_page, default=0)
    parts: list[Part] = []
    for sheet in sheets:
        listed = locate_entries(by_page[sheet.page.page_no], sheet.lines, type_)
        printed = _printed(sheet, listed, type_, bool(entries)) if sheet.page.page_no >= first else ()
        ordered = sorted((*listed, *printed), key=lambda heading: (heading.start, heading.end))
        parts.extend(_parts(sheet, ordered))
    title = title or _first_title(parts)
    return Structure(parts=tuple(_with_paths(parts, title)), title=title)


def _type_of(sheets: Sequence[Sheet], *, has_outline: bool) -> Type:
    plain = Type(body=body_size(line for sheet in sheets for line in sheet.lines), levels={})
    titles = [
        (sheet.lines[start].size, _text_of(sheet, start, end))
        for sheet in sheets
        if not sheet.contents
        for start, end in find_by_font(sheet.ranges, sheet.lines, plain, bold_alone=not has_outline)
    ]
    return replace(plain, levels=rank_sizes(titles))


def _text_of(sheet: Sheet, start: int, end: int) -> str:
    return " ".join(" ".join(line.text.split()) for line in sheet.lines[start:end])


def _printed(
    sheet: Sheet, listed: Sequence[PdfHeading], type_: Type, has_outline: bool
) -> tuple[PdfHeading, ...]:
    """Headings that only the type shows; on a contents page every chapter title is bold."""
    if sheet.contents:
        return ()
    taken = {index for heading in listed for index in range(heading.start, heading.end)}
    # The labels of a drawing are often larger than the text.
    blocks = [sheet.lines[start:end] for start, end in sheet.ranges]
    drawings = drawings_of_labels(sheet.page.pictures, blocks, body=type_.body)
    runs = find_by_font(sheet.ranges, sheet.lines, type_, bold_alone=not has_outline)
    return tuple(
        _by_font(sheet, run, type_, has_outline)
        for run in runs
        if taken.isdisjoint(range(*run))
        and not any(drawing.holds_middle_of(box_of(sheet.lines[slice(*run)])) for drawing in drawings)
    )


def _by_font(sheet: Sheet, run: tuple[int, int], type_: Type, has_outline: bool) -> PdfHeading:
    text = _text_of(sheet, *run)
    first = sheet.lines[run[0]]
    level = numbered_depth(text) or type_.levels.get(first.size, 1)
    return PdfHeading(
        title=strip_numbering(text),
        level=level + FONT_LEVEL if has_outline else level,
        confidence=FONT,
        start=run[0],
        end=run[1],
    )


def _parts(sheet: Sheet, headings: Sequence[PdfHeading]) -> Iterator[Part]:
    number = sheet.page.page_no
    for margin, line in sheet.margins:
        yield Part(page_no=number, bbox=line.bbox, lines=(line,), margin=margin)
    yield from _body(sheet, headings)
    for picture in sheet.page.pictures:
        yield Part(page_no=number, bbox=picture.bbox, picture=picture)


def _body(sheet: Sheet, headings: Sequence[PdfHeading]) -> Iterator[Part]:
    """Cut the blocks at the headings that begin in them; a heading may reach into the next block."""
    pending = list(headings)
    ranges = iter(sheet.ranges)
    at = 0
    for item in sheet.items:
        if isinstance(item, Table):
            yield Part(page_no=sheet.page.page_no, bbox=item.bbox, table=item)
            continue
        if isinstance(item, Title):
            yield Part(page_no=sheet.page.page_no, bbox=box_of(item.lines), lines=item.lines, caption=True)
            continue
        _, end = next(ranges)
        while pending and pending[0].start < end:
            heading = pending.pop(0)
            yield from _run(sheet, at, heading.start)
            yield _heading_part(sheet, heading)
            at = max(at, heading.end)
        yield from _run(sheet, at, end)
        at = max(at, end)
    yield from (_heading_part(sheet, heading) for heading in pending)


def _run(sheet: Sheet, start: int, end: int) -> Iterator[Part]:
    if start < end:
        lines = sheet.lines[start:end]
        box = box_of(lines)
        yield Part(
            page_no=sheet.page.page_no,
            bbox=box,
            lines=lines,
            column=column_of(box, sheet.gutter),
            contents=sheet.contents,
        )


def _heading_part(sheet: Sheet, heading: PdfHeading) -> Part:
    lines = sheet.lines[heading.start : heading.end]
    bbox = box_of(lines) if lines else BBox(0, 0, 0, 0)
    return Part(page_no=sheet.page.page_no, bbox=bbox, lines=lines, heading=heading)


def _first_title(parts: Sequence[Part]) -> str:
    headings = [part for part in parts if part.heading and part.lines]
    styles = Counter((part.lines[0].size, part.lines[0].bold) for part in headings)
    for part in headings[:1]:
        style = part.lines[0].size, part.lines[0].bold
        if part.heading and styles[style] == 1 and style == max(styles):
            return part.heading.title
    return ""


def _with_paths(parts: Sequence[Part], title: str) -> Iterator[Part]:
    stack: list[PdfHeading] = []
    number = ""
    for part in parts:
        if part.heading is not None:
            is_title = title_key(part.heading.title) == title_key(title)
            while stack and (is_title or stack[-1].level >= part.heading.level):
                stack.pop()
            if not is_title:
                stack.append(part.heading)
            number = dotted_number(" ".join(" ".join(line.text.split()) for line in part.lines))
        yield replace(
            part,
            number=number,
            heading_path=() if part.margin else tuple(cut_heading(one.title) for one in stack[-MAX_DEPTH:]),
            confidence=stack[-1].confidence if stack else NONE,
        )
