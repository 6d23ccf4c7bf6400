"""Read one PDF page into lines with boxes, fonts, links, form values and pictures; what follows is pure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial
from typing import Any

from ingest.parse.pdf.evidence import TableEvidence, table_evidence
from ingest.parse.pdf.letters import find_suspects, is_arabic, is_garbled, read_letters
from ingest.parse.pdf.line_numbers import without_line_numbers
from ingest.parse.pdf.lines import (
    Block,
    Line,
    merge_lines,
    read_line,
    tell_marks,
    with_drop_caps,
    without_copies,
    without_ruby,
)
from ingest.parse.pdf.links import LinkText, PageLink, PageTops, find_links, page_links, read_link_texts
from ingest.parse.pdf.opening import load_pymupdf, to_box
from ingest.parse.pdf.order import split_at_gutters
from ingest.parse.pdf.pictures import Picture, Signs, find_pictures, read_paths, table_signs
from ingest.parse.pdf.tables import Table, find_tables, with_aligned
from schemas.nodes import BBox, PageSize

_BUTTON, _CHECK, _RADIO, _SIGNATURE = 1, 2, 5, 6
_PASSWORD = 1 << 13
_HIDDEN = 1
"""Kinds, a flag and a display of fields, by the numbers that pymupdf gives them."""

_TICKED = {True: "(ticked)", False: "(not ticked)"}
_NEAR, _FAR = 30.0, 60.0
_ABOVE = 1.5
"""Points between a box to tick and its label on the right, and from where a label on the left is less likely
than one above; heights of a label from it to a field below."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form: where it is, what it says, and whether it is a box to tick."""

    bbox: BBox
    value: str
    ticks: bool = False


def form_fields(document: Any, page: Any) -> tuple[Field, ...]:
    """Return the fields of an unrotated page that say something; buttons and passwords do not."""
    if not document.is_form_pdf:
        return ()
    return tuple(_fields(document, page))


def _fields(document: Any, page: Any) -> Iterator[Field]:
    for widget in page.widgets():
        kind, box = widget.field_type, to_box(widget.rect)
        if widget.field_display == _HIDDEN or kind in (_BUTTON, _SIGNATURE):
            continue
        if kind in (_CHECK, _RADIO):
            yield Field(box, _TICKED[_is_ticked(document, widget)], ticks=True)
            continue
        value = widget.field_value or ""
        said = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        yield Field(box, "" if widget.field_flags & _PASSWORD else " ".join(said.split()))


def _is_ticked(document: Any, widget: Any) -> bool:
    kind, state = document.xref_get_key(widget.xref, "AS")
    value = state.lstrip("/") if kind == "name" else str(widget.field_value or "Off")
    return value not in {"Off", "False", ""}


def without_fields(blocks: Sequence[dict[str, Any]], fields: Sequence[Field]) -> None:
    """Take the texts that fields are drawn with out of the lines of `get_text("dict")`."""
    for block in blocks:
        block["lines"] = [
            line
            for line in block.get("lines", ())
            if not any(field.bbox.holds_middle_of(to_box(line["bbox"])) for field in fields)
        ]


def words_of_fields(words: Sequence[Any], fields: Sequence[Field]) -> list[Any]:
    """Have the words of a page, for its tables, say of boxes whether they are ticked."""
    boxes = [field for field in fields if field.ticks]
    kept = [word for word in words if not any(box.bbox.holds_middle_of(to_box(word[:4])) for box in boxes)]
    added = [
        (box.bbox.x0, box.bbox.y0, box.bbox.x1, box.bbox.y1, word, -1, at, number)
        for at, box in enumerate(boxes)
        for number, word in enumerate(box.value.split())
    ]
    return [*kept, *added]


def fill_in(blocks: Sequence[Block], fields: Sequence[Field]) -> tuple[Block, ...]:
    """Put each value behind its label: on its left, above it, or, of a box to tick, on its right."""
    found = [list(block) for block in blocks]
    for field in sorted(fields, key=lambda field: (field.bbox.y0, field.bbox.x0)):
        if not field.value:
            continue
        place = _label(blocks, field)
        if place is None:
            height = field.bbox.y1 - field.bbox.y0
            found.append([Line(text=field.value, bbox=field.bbox, size=round(min(height, 10.0), 1))])
            continue
        block, at, is_behind = place
        line = found[block][at]
        text = f"{field.value} {line.text}" if is_behind else f"{line.text.rstrip()} {field.value}"
        found[block][at] = replace(line, text=text, bbox=line.bbox.union(field.bbox), bold=False)
    return tuple(map(tuple, found))


def _label(blocks: Sequence[Sequence[Line]], field: Field) -> tuple[int, int, bool] | None:
    """Where the nearest label is, and whether it stands behind the field."""
    box = field.bbox
    found: list[tuple[float, int, int, bool]] = []
    for number, block in enumerate(blocks):
        for at, line in enumerate(block):
            middle, height = (line.bbox.y0 + line.bbox.y1) / 2, line.bbox.y1 - line.bbox.y0
            if box.y0 - 1 <= middle <= min(box.y1, box.y0 + 2 * height) + 1:
                if field.ticks and -1 <= line.bbox.x0 - box.x1 <= _NEAR:
                    found.append((line.bbox.x0 - box.x1, number, at, True))
                elif line.bbox.x0 < box.x0:
                    found.append((max(box.x0 - line.bbox.x1, 0.0), number, at, False))
            elif (
                0 <= box.y0 - line.bbox.y1 <= _ABOVE * height
                and line.bbox.x0 < box.x1
                and box.x0 < line.bbox.x1
            ):
                found.append((_FAR + box.y0 - line.bbox.y1, number, at, False))
    return min(found)[1:] if found else None


class Search(IntEnum):
    """How tables are looked for, the cheapest first."""

    NOT = 0
    RULINGS = 1
    LAYOUT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContent:
    """A page; boxes have their origin at the top left of the CropBox, rotation 0. Blocks in file order.

    `rotation` is by how many degrees a reader sees it turned; `searched` says how much was done to find
    tables, `most` how much might have been; `printed` are the lines of the text layer as MuPDF gave them,
    without the `hidden` letters that no reader sees; `garbled` says that letters stand for others.
    All but `page_no`, `label` and `links` depends on nothing outside the page.
    """

    page_no: int
    size: PageSize
    rotation: int = 0
    label: str | None = None
    blocks: tuple[Block, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()
    searched: Search = Search.NOT
    most: Search = Search.NOT
    recognised: bool = False
    link_texts: tuple[LinkText, ...] = ()
    links: tuple[PageLink, ...] = ()
    printed: tuple[tuple[BBox, str], ...] = ()
    hidden: int = 0
    garbled: bool = False
    warnings: tuple[str, ...] = ()


def read_pdf_page(document: Any, index: int, *, tops: PageTops, most: Search, outlined: bool) -> PageContent:
    """Read page *index* (from 0), looking for tables at *most* in this way where it shows signs of one.

    The layout model looks at pages whose text shows a table: a caption of one, or figures that line up. In a
    document that is not *outlined*, as those of tools for manuals are, it also looks at every page with a
    grid or with columns of short texts.

    A rotated page is turned back in memory first: links and tables come in displayed space otherwise,
    and the derotation matrix is wrong where CropBox and MediaBox differ.
    """
    page, rotation, label = _open(document, index)
    pymupdf = load_pymupdf()
    textpage = page.get_textpage(flags=_text_flags(pymupdf))
    printed = page.get_text("dict", textpage=textpage)["blocks"]
    arabic = is_arabic(printed)
    if arabic:
        textpage = page.get_textpage(flags=_text_flags(pymupdf) | pymupdf.TEXT_PRESERVE_LIGATURES)
        printed = page.get_text("dict", textpage=textpage)["blocks"]
    size = PageSize(_point(page.rect.width), _point(page.rect.height))
    found, warnings = find_links(document, page)
    words = page.get_text("words", textpage=textpage)
    paths, skipped = read_paths(document, page)
    suspects = set() if paths is None else find_suspects(page, printed, paths)
    hidden = 0
    if suspects or arabic:
        seen = read_letters(page, textpage, suspects, arabic=arabic)
        hidden = seen.hidden
        if hidden or arabic:
            printed, words = seen.blocks, seen.words
    if fields := form_fields(document, page):
        without_fields(printed, fields)
        words = words_of_fields(words, fields)
    words = tell_marks(printed, words)
    link_texts = read_link_texts(words, found)
    signs = table_signs(paths, printed) if most and paths is not None else Signs()
    evidence = table_evidence(words, printed, size.width) if most else TableEvidence()
    told = (
        *(line for block in printed for line in _as_printed(block)),
        *((field.bbox, field.value) for field in fields),
    )
    look = partial(find_tables, page, words, printed)
    search, tables = _search(look, signs, evidence, most=most, outlined=outlined)
    # What was found otherwise, be it finer or not, is not looked at again.
    tables = (
        *tables,
        *(one for one in with_aligned((), evidence.plain, sure=False) if _is_free(one, tables)),
    )
    return PageContent(
        page_no=index + 1,
        size=size,
        rotation=rotation,
        label=label,
        blocks=_as_read(fill_in(tuple(_blocks(printed, size)), fields)),
        pictures=find_pictures(document, page, printed, [table.bbox for table in tables]),
        tables=tables,
        searched=search,
        most=most,
        link_texts=link_texts,
        links=page_links(found, link_texts, tops),
        printed=told,
        hidden=hidden,
        garbled=is_garbled(" ".join(text for _, text in told)),
        warnings=(*warnings, *([skipped] if skipped and most else ())),
    )


def place_page(document: Any, index: int, content: PageContent, *, tops: PageTops) -> PageContent | None:
    """Return the content of an equal page as that of page *index*; None where its links lie elsewhere."""
    page, _, label = _open(document, index)
    found, _ = find_links(document, page)
    if [tuple(link["from"]) for link in found] != [under.area for under in content.link_texts]:
        return None
    links = page_links(found, content.link_texts, tops)
    return replace(content, page_no=index + 1, label=label, links=links)


def _open(document: Any, index: int) -> tuple[Any, int, str | None]:
    """Return a page turned back, by how much it was turned, and its label."""
    page = document[index]
    label = page.get_label() or None
    rotation = int(page.rotation)
    if rotation:
        page.set_rotation(0)
        page = document.reload_page(page)
    return page, rotation, label


def _search(
    look: Callable[..., tuple[Table, ...]],
    signs: Signs,
    evidence: TableEvidence,
    *,
    most: Search,
    outlined: bool,
) -> tuple[Search, tuple[Table, ...]]:
    """Look for tables, and say how; where a manual draws its tables, the model is asked for what is left."""
    search = min(most, _search_for(signs, evidence, outlined))
    if search is Search.NOT:
        return search, ()
    if search is Search.RULINGS or (outlined and signs.grid):
        tables = look(with_layout=False)
        if search is Search.RULINGS or evidence.is_met_by(tables):
            return Search.RULINGS, with_aligned(tables, evidence.aligned, sure=False)
    return search, look(evidence.aligned, with_layout=True)


def _search_for(signs: Signs, evidence: TableEvidence, outlined: bool) -> Search:
    if evidence or (not outlined and (signs.grid or signs.columns)):
        return Search.LAYOUT
    return Search.RULINGS if signs.grid else Search.NOT


def _is_free(table: Table, others: Sequence[Table]) -> bool:
    box = table.bbox
    return all(box.y1 <= other.bbox.y0 or other.bbox.y1 <= box.y0 for other in others)


def _text_flags(pymupdf: Any) -> int:
    """No pictures, which cost much, and ligatures as letters, so that words are found."""
    dropped = pymupdf.TEXT_PRESERVE_IMAGES | pymupdf.TEXT_PRESERVE_LIGATURES
    return int(pymupdf.TEXTFLAGS_DICT & ~dropped)


def _as_printed(block: dict[str, Any]) -> list[tuple[BBox, str]]:
    lines = block.get("lines", ())
    return [(to_box(line["bbox"]), "".join(span["text"] for span in line["spans"])) for line in lines]


def _blocks(printed: Sequence[dict[str, Any]], size: PageSize) -> Iterator[Block]:
    for block in printed:
        lines = tuple(filter(None, (read_line(line, size) for line in block.get("lines", ()))))
        if lines:
            yield lines


def _as_read(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    blocks = with_drop_caps(without_line_numbers(without_ruby(without_copies(blocks))))
    return tuple(map(merge_lines, split_at_gutters(blocks)))


def _point(value: float) -> float:
    return round(float(value), 2)
