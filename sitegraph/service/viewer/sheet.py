"""A page of a PDF as a sheet: its picture, the boxes of its passages, their text."""

from collections.abc import Collection
from dataclasses import dataclass

from indexes.wiring import Readers
from runtime.processes.page_images import DPI, DrawnPage
from schemas.edges import EdgeKind
from schemas.errors import ParseError, SitegraphError
from schemas.geometry import PageSize, turn
from schemas.ids import pdf_page_id
from schemas.nodes import Chunk
from sitegraph.service.viewer.archive import LedgerArchive

FIT = 0
ZOOMS = (FIT, 100, 150, 200)
"""Per cent of the size on paper; FIT is the width of the window."""

_NOT_NOW = "the picture cannot be drawn now; the server's log says why"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """Where a passage stands on the page as displayed, in points from its top left."""

    chunk: str
    text: str
    x: float
    y: float
    width: float
    height: float
    cited: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPage:
    """A page, counted from 1; `size` is None where it cannot be drawn, and `trouble` says why.

    `pixels` is the width it is shown at, None for that of the window.
    """

    page_no: int
    pages: int
    dpi: int
    passages: tuple[Chunk, ...]
    boxes: tuple[Box, ...] = ()
    size: PageSize | None = None
    pixels: int | None = None
    trouble: str | None = None


def dpi_of(zoom: int) -> int:
    """Return the resolution a picture is drawn at."""
    return DPI * max(zoom, 100) // 100


def read_sheet(
    readers: Readers, archive: LedgerArchive, *, doc: str, page_no: int, pages: int, cited: str, zoom: int
) -> ShownPage:
    """Return a page of the generation that is read; its text is there also where its picture is not."""
    passages = chunks_on_page(readers, doc, page_no)
    dpi = dpi_of(zoom)
    try:
        drawn = archive.page(readers, doc, page_no, generation=readers.generation, dpi=dpi)
    except SitegraphError as error:
        trouble = error.message
        if not isinstance(error, ParseError):
            archive.warn(f"sitegraph: warning: {error}")
            trouble = _NOT_NOW
        return ShownPage(page_no=page_no, pages=pages, dpi=dpi, passages=passages, trouble=trouble)
    return ShownPage(
        page_no=page_no,
        pages=pages,
        dpi=dpi,
        passages=passages,
        boxes=boxes_of(passages, drawn, cited=cited),
        size=drawn.size,
        pixels=round(drawn.size.width * 96 / 72 * zoom / 100) if zoom else None,
    )


def boxes_of(passages: Collection[Chunk], drawn: DrawnPage, *, cited: str) -> tuple[Box, ...]:
    """Return the boxes of passages on the page as displayed, the cited one last, so that it is on top.

    Passages cut from one region have one box: it is that of the cited one, if it is among them.
    """
    found: dict[object, Box] = {}
    for chunk in sorted(passages, key=lambda chunk: chunk.id == cited):
        box = _box(chunk, drawn, cited=chunk.id == cited)
        if box is not None and (chunk.bbox not in found or box.cited):
            found.pop(chunk.bbox, None)
            found[chunk.bbox] = box
    return tuple(found.values())


def _box(chunk: Chunk, drawn: DrawnPage, *, cited: bool) -> Box | None:
    if chunk.bbox is None:
        return None
    width, height = drawn.size.width, drawn.size.height
    sideways = drawn.rotation % 180 == 90
    unturned = PageSize(height, width) if sideways else PageSize(width, height)
    at = turn(chunk.bbox, size=unturned, rotation=drawn.rotation)
    return Box(
        chunk=chunk.id,
        text=chunk.text,
        x=round(at.x0, 1),
        y=round(at.y0, 1),
        width=round(at.x1 - at.x0, 1),
        height=round(at.y1 - at.y0, 1),
        cited=cited,
    )


def chunks_on_page(readers: Readers, doc: str, page_no: int) -> tuple[Chunk, ...]:
    """Return the passages of a page in reading order; with the graph the whole document need not be read."""
    regions = _contents(readers, [pdf_page_id(doc, page_no)])
    chunks = readers.chunks.get(_contents(readers, regions))
    if chunks:
        return tuple(sorted(chunks, key=lambda chunk: chunk.ordinal))
    return tuple(chunk for chunk in readers.chunks.of_documents([doc]) if chunk.page_no == page_no)


def _contents(readers: Readers, ids: Collection[str]) -> list[str]:
    if readers.graph is None or not ids:
        return []
    return [edge.dst for edge in readers.graph.edges_from(ids, kinds={EdgeKind.CONTAINS})]
