"""Parts to regions: what each is, its text, and which small neighbours make one region."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ingest.parse.chunk_spans import ChunkSpan, Room, cut_chunks, part_by_entries
from ingest.parse.chunking import MAX_TOKENS, TINY, CountTokens, Span, split_spans, text_budget
from ingest.parse.outline import MAX_HEADING, EntrySpan, Stretch
from ingest.parse.pdf.captions import LABEL, Region, is_caption, with_captions
from ingest.parse.pdf.cells import is_unit
from ingest.parse.pdf.joining import (
    BULLETS,
    PARAGRAPH_BREAK,
    JoinedLines,
    join_code,
    join_paragraph,
    join_texts,
)
from ingest.parse.pdf.part_groups import (
    EntryPlace,
    PageText,
    PdfEntry,
    join_formulas,
    page_text,
    part_at_terms,
    part_by_place,
    place_in_entries,
)
from ingest.parse.pdf.structure import Part
from ingest.parse.pdf.tables import Table
from schemas.nodes import BBox, RegionType

SMALL_CODE = 40
"""Tokens under which a listing stays with the text around it, as all small siblings do (docs/chunks.md)."""

_NEXT_LINE = 0.6
"""Sizes of type between two lines of a listing, at most; an empty line is more."""

_SECTION = 0.16
"""Share of the limit above which rows under one name are a part of their own."""

_BULLET = re.compile(rf"\s*(?:[{BULLETS}–—*·-]\s|\(?(?:\d{{1,2}}|[a-z])[.)]\s)")
_FLOW = frozenset({RegionType.PARAGRAPH, RegionType.LIST, RegionType.FORMULA})
_MARGINS = {"header": RegionType.HEADER, "footer": RegionType.FOOTER}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    type: RegionType
    part: Part
    joined: JoinedLines
    flows: bool
    place: EntryPlace

    @property
    def is_label(self) -> bool:
        """Whether it is too short to be read alone, as the words in a drawing are, in whatever order."""
        return len(self.joined.text) <= LABEL


def build_regions(
    parts: Sequence[Part], *, words: Collection[str], count_tokens: CountTokens
) -> tuple[Region, ...]:
    """Turn parts into regions in the same order.

    Paragraphs, lists, formulas and small listings that follow each other in one column under one heading,
    without other text between them, are cut into regions of 120-220 tokens by content, so that an insertion
    moves few cuts. A formula among them is a region once more, without chunks: what it says is said by the
    text around it. Headings, captions and tables stand alone; running lines, contents and pictures have no
    chunks.
    """
    parts = tuple(part_at_terms(tuple(join_formulas(tuple(_join_listings(parts))))))
    places, texts = place_in_entries(parts), _texts(parts)
    regions: list[Region] = []
    run: list[_Piece] = []
    for index, part in enumerate(parts):
        piece = _piece(part, places[index], words, count_tokens, names_unit=_names_unit(parts, index))
        if piece is None:
            continue
        if run and not _continues(run[-1].part, piece):
            regions.extend(_cut_by_place(run, texts, count_tokens))
            run = []
        if piece.flows:
            run.append(piece)
        else:
            regions.append(_alone(piece, _is_bare_heading(parts, index), count_tokens))
    regions.extend(_cut_by_place(run, texts, count_tokens))
    return with_captions(regions)


def _join_listings(parts: Sequence[Part]) -> Iterator[Part]:
    """Put the lines of a listing together; where they stand in at different depths, each is a block."""
    held: Part | None = None
    for part in parts:
        if held is not None and _is_listing(held) and _is_listing(part) and _stands_below(held, part):
            lines = (*held.lines, *part.lines)
            held = replace(held, lines=lines, bbox=held.bbox.union(part.bbox))
            continue
        if held is not None:
            yield held
        held = part
    if held is not None:
        yield held


def _is_listing(part: Part) -> bool:
    plain = part.heading is None and part.margin is None and not part.contents
    return plain and bool(part.lines) and all(line.mono for line in part.lines)


def _stands_below(part: Part, below: Part) -> bool:
    gap = below.bbox.y0 - part.bbox.y1
    size = below.lines[0].size
    return part.page_no == below.page_no and part.column == below.column and -size < gap < _NEXT_LINE * size


def _names_unit(parts: Sequence[Part], index: int) -> bool:
    """Whether a line right above a table says in what it counts."""
    part, below = parts[index], parts[index + 1 : index + 2]
    return (
        len(part.lines) == 1
        and part.heading is None
        and part.margin is None
        and is_unit(part.lines[0].text)
        and any(next_.table and next_.page_no == part.page_no for next_ in below)
    )


def _piece(
    part: Part,
    place: EntryPlace,
    words: Collection[str],
    count_tokens: CountTokens,
    *,
    names_unit: bool,
) -> _Piece | None:
    """None for a heading that is not printed, and for lines of invisible characters."""
    type_ = RegionType.CAPTION if names_unit else _type_of(part)
    joined = _text_of(part, type_, words, count_tokens)
    if not joined.text.strip() and type_ is not RegionType.FIGURE:
        return None
    small = type_ is RegionType.CODE and (place.follows or count_tokens(joined.text) < SMALL_CODE)
    flows = not part.contents and not place.bare and (type_ in _FLOW or small)
    return _Piece(type=type_, part=part, joined=joined, flows=flows, place=place)


def _type_of(part: Part) -> RegionType:
    if part.margin is not None:
        return _MARGINS[part.margin]
    if part.heading is not None:
        return RegionType.HEADING
    if part.table is not None:
        return RegionType.TABLE
    if part.picture is not None:
        return RegionType.FIGURE
    if part.formula:
        return RegionType.FORMULA
    if all(line.mono for line in part.lines):
        return RegionType.CODE
    first = part.lines[0].text
    if part.caption or is_caption(part.lines):
        return RegionType.CAPTION
    return RegionType.LIST if part.contents or _BULLET.match(first) else RegionType.PARAGRAPH


def _text_of(part: Part, type_: RegionType, words: Collection[str], count_tokens: CountTokens) -> JoinedLines:
    if part.table is not None:
        return _table_text(part.table)
    if type_ is RegionType.CODE:
        return join_code(part.lines)
    return join_paragraph(part.lines, words, count_tokens)


def _table_text(table: Table) -> JoinedLines:
    """One row a line, cells parted by tabs: white space, so the page contains the same letters in order.

    An empty cell is two tabs in a row, so that columns can be told.
    """
    text = ""
    lines: list[tuple[int, int, BBox]] = []
    for row, box in zip(table.rows, table.boxes, strict=True):
        start = len(text) + bool(text)
        text += ("\n" if text else "") + "\t".join(row)
        lines.append((start, len(text), box))
    return JoinedLines(text=text, lines=tuple(lines))


def _continues(last: Part, piece: _Piece) -> bool:
    return (
        piece.flows
        and last.page_no == piece.part.page_no
        and last.heading_path == piece.part.heading_path
        and last.column == piece.part.column
        and (piece.part.bbox.y1 > last.bbox.y0 or piece.is_label)
        and not _is_beside(last, piece.part)
    )


def _is_beside(last: Part, part: Part) -> bool:
    """Whether lines go on in the next column."""
    is_text = len(last.lines) > 1 and len(part.lines) > 1
    return is_text and part.bbox.x0 >= last.bbox.x1 and part.bbox.y0 < last.bbox.y1


def _texts(parts: Sequence[Part]) -> dict[int, PageText]:
    """Return where on each page lines stand, and rows of tables."""
    pages: dict[int, list[BBox]] = defaultdict(list)
    for part in parts:
        rows = part.table.boxes if part.table else ()
        pages[part.page_no].extend((*rows, *(line.bbox for line in part.lines)))
    return {number: page_text(boxes) for number, boxes in pages.items()}


def _cut_by_place(
    run: Sequence[_Piece], texts: Mapping[int, PageText], count_tokens: CountTokens
) -> Iterator[Region]:
    """Cut what stands together on the page, so that the box of a passage holds no other text."""
    if run:
        boxes = [piece.part.bbox for piece in run]
        labels = [piece.is_label for piece in run]
        for group in part_by_place(boxes, labels, texts[run[0].part.page_no]):
            yield from _cut([run[at] for at in group], count_tokens)


def _cut(run: Sequence[_Piece], count_tokens: CountTokens) -> Iterator[Region]:
    """Cut a run by content; a region ends where a cut falls between two pieces."""
    whole = join_texts(piece.joined for piece in run)
    spans, terms = _entry_spans(run, whole.text, count_tokens)
    cuts = {start for start, _ in spans}
    first = at = 0
    begin = spans[0][0] if spans else 0
    for index, piece in enumerate(run):
        if index > first and at in cuts:
            yield from _flow_regions(run[first:index], spans, at, terms.get(begin, ()))
            first, begin = index, at
        at += len(piece.joined.text) + len(PARAGRAPH_BREAK)
    yield from _flow_regions(run[first:], spans, at, terms.get(begin, ()))


def _entry_spans(
    run: Sequence[_Piece], text: str, count_tokens: CountTokens
) -> tuple[list[Span], dict[int, tuple[str, ...]]]:
    """Cut a run at its entries, then by content; also give the names of entries around each span."""
    headings = run[0].part.heading_path
    room = Room(
        measure=lambda start, end: count_tokens(text[start:end]),
        limit=lambda names: text_budget((*headings, *names), count_tokens),
        tiny=int(MAX_TOKENS * TINY),
    )
    spans: list[Span] = []
    terms: dict[int, tuple[str, ...]] = {}
    terms_above = _terms_above(run)
    for piece in part_by_entries(text, _entries(run), room):
        whole = piece.whole or [
            span for span in terms_above if piece.start <= span[0] and span[1] <= piece.end
        ]
        found = split_spans(
            text[piece.start : piece.end],
            max_tokens=room.limit(piece.names),
            count_tokens=count_tokens,
            solid=tuple((start - piece.start, end - piece.start) for start, end in whole),
        )
        for start, end in found:
            spans.append((start + piece.start, end + piece.start))
            terms[start + piece.start] = piece.names
    return spans, terms


def _terms_above(run: Sequence[_Piece]) -> list[Span]:
    """Where terms stand with what follows them, which are cut apart only where they do not fit."""
    found: list[Span] = []
    at = before = 0
    for piece in run:
        end = at + len(piece.joined.text)
        if piece.place.follows and at:
            start = found.pop()[0] if found and found[-1][1] > before else before
            found.append((start, end))
        before, at = at, end + len(PARAGRAPH_BREAK)
    return found


def _entries(run: Sequence[_Piece]) -> tuple[EntrySpan, ...]:
    """Where in the text of a run each entry stands, before those inside it."""
    found: dict[PdfEntry, EntrySpan] = {}
    at = 0
    for piece in run:
        end = at + len(piece.joined.text)
        for entry in piece.place.entries:
            held = found.get(entry)
            found[entry] = EntrySpan(held.start if held else at, end, entry.name)
        at = end + len(PARAGRAPH_BREAK)
    return tuple(sorted(found.values(), key=lambda entry: (entry.start, -entry.end)))


def _flow_regions(
    group: Sequence[_Piece], spans: Sequence[Span], end: int, terms: tuple[str, ...]
) -> Iterator[Region]:
    """Make one region of pieces that end, with the break behind them, at *end* of the whole run."""
    joined = join_texts(piece.joined for piece in group)
    start = end - len(joined.text) - len(PARAGRAPH_BREAK)
    inside = tuple(ChunkSpan(low - start, high - start) for low, high in spans if start <= low < end)
    types = {piece.type for piece in group}
    type_ = types.pop() if len(types) == 1 else RegionType.PARAGRAPH
    yield replace(_region(group[0].part, type_, joined, inside), terms=terms)
    if type_ is not RegionType.FORMULA:
        formulas = (piece for piece in group if piece.type is RegionType.FORMULA)
        yield from (_region(piece.part, piece.type, piece.joined, ()) for piece in formulas)


def _alone(piece: _Piece, is_bare_heading: bool, count_tokens: CountTokens) -> Region:
    part = piece.part
    silent = part.margin is not None or part.contents or part.picture is not None or piece.place.bare
    is_cut = part.heading is not None and len(part.heading.title) > MAX_HEADING
    if silent or (part.heading is not None and not is_bare_heading and not is_cut):
        return _region(part, piece.type, piece.joined, ())
    terms = tuple(entry.name for entry in piece.place.entries if entry.name)
    limit = text_budget((*part.heading_path, *terms), count_tokens)
    spans = cut_chunks(piece.joined.text, _stretches(piece), max_tokens=limit, count_tokens=count_tokens)
    if len(spans) > 1 and part.table and part.table.sections:
        spans = tuple(_by_section(part.table, piece.joined, limit, count_tokens))
    return replace(_region(part, piece.type, piece.joined, spans), terms=terms)


def _by_section(
    table: Table, joined: JoinedLines, limit: int, count_tokens: CountTokens
) -> Iterator[ChunkSpan]:
    """Cut a table before rows that name those below; each part repeats what names its columns and rows."""
    text, starts = joined.text, [joined.lines[at][0] for at in table.sections]
    header = _header_of(table)
    header = header if count_tokens(header) < limit // 2 else ""
    bounds = [0]
    for start in starts:
        if start > len(header) + 1 and count_tokens(text[bounds[-1] : start]) > limit * _SECTION:
            bounds.append(start)
    names = [(start, table.rows[at][0]) for start, at in zip(starts, table.sections, strict=True)]
    room = limit - count_tokens(header) - max(count_tokens(name) for _, name in names)
    for begin, end in pairwise((*bounds, len(text))):
        for low, high in split_spans(
            text[begin:end], max_tokens=max(room, limit // 2), count_tokens=count_tokens
        ):
            start = begin + low
            above = [name for at, name in names if at < start][-1:] if start not in starts else []
            said = "\n".join((header, *above) if header else above)
            yield ChunkSpan(start, begin + high, said if start else "")


def _stretches(piece: _Piece) -> tuple[Stretch, ...]:
    """Say where a table's header ends, so that its parts repeat it."""
    table = piece.part.table
    if table is None:
        return ()
    return (Stretch(0, len(piece.joined.text), len(_header_of(table))),)


def _header_of(table: Table) -> str:
    return "\n".join("\t".join(row) for row in table.rows[: table.header_rows])


def _region(part: Part, type_: RegionType, joined: JoinedLines, spans: tuple[ChunkSpan, ...]) -> Region:
    """Make a region; signs without a letter or digit ("®") say nothing, and are no passage."""
    says = any(map(str.isalnum, joined.text))
    return Region(
        type=type_,
        page_no=part.page_no,
        bbox=joined.bbox(0, len(joined.text)) if joined.text else part.bbox,
        joined=joined,
        spans=spans if says else (),
        heading_path=part.heading_path,
        confidence=part.confidence,
        digest=part.picture.digest if part.picture else "",
        bookmark=part.heading.bookmark if part.heading else None,
        contents=part.contents,
        number=part.number,
    )


def _is_bare_heading(parts: Sequence[Part], index: int) -> bool:
    """Whether a heading has no body before the next one, on its page or a later one."""
    if parts[index].heading is None or not parts[index].heading_path:
        return False
    for part in parts[index + 1 :]:
        if part.heading is not None:
            return True
        if part.margin is None and part.picture is None:
            return False
    return True
