"""Read one PDF page into lines with boxes, fonts, links and pictures; everything later is pure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial
from typing import Any

from ingest.parse.pdf.boxes import to_box
from ingest.parse.pdf.evidence import TableEvidence, find_evidence
from ingest.parse.pdf.forms import fill_in, read_fields, without_fields, words_of_fields
from ingest.parse.pdf.garbled import is_garbled
from ingest.parse.pdf.gate import Signs, read_paths, table_signs
from ingest.parse.pdf.gutters import split_at_gutters
from ingest.parse.pdf.hidden import find_suspects, read_letters
from ingest.parse.pdf.letters import is_arabic
from ingest.parse.pdf.line_numbers import without_line_numbers
from ingest.parse.pdf.lines import (
    Block,
    merge_lines,
    read_line,
    tell_marks,
    with_drop_caps,
    without_copies,
    without_ruby,
)
from ingest.parse.pdf.links import LinkText, PageLink, find_links, read_link_texts, read_links
from ingest.parse.pdf.opening import load_pymupdf
from ingest.parse.pdf.outline import PageTops
from ingest.parse.pdf.pictures import Picture, find_pictures
from ingest.parse.pdf.tables import Table, find_tables, with_aligned
from schemas.geometry import BBox, PageSize


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


def read_page(document: Any, index: int, *, tops: PageTops, most: Search, outlined: bool) -> PageContent:
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
    if fields := read_fields(document, page):
        without_fields(printed, fields)
        words = words_of_fields(words, fields)
    words = tell_marks(printed, words)
    link_texts = read_link_texts(words, found)
    signs = table_signs(paths, printed) if most and paths is not None else Signs()
    evidence = find_evidence(words, printed, size.width) if most else TableEvidence()
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
        links=read_links(found, link_texts, tops),
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
    links = read_links(found, content.link_texts, tops)
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
