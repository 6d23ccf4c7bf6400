"""The figure of a PDF that a passage tells of: where it is on its page, and its picture."""

from collections.abc import Collection

from indexes.wiring import Readers
from runtime.page_images import draw_box_apart
from schemas.edges import EdgeKind
from schemas.ids import pdf_page_id
from schemas.nodes import BBox, Chunk, PdfRegion, RegionType
from sitegraph.service.answers import chunk_of_generation, open_graph
from sitegraph.service.parts import Parts
from sitegraph.service.problems import HttpProblem

_TOUCHING = 3.0
"""Points between two pictures that are one: programs cut a large one into strips, and round their edges."""

_BACKGROUND = 0.8
"""Share of a page from which on a picture is its background, or a scan: what stands on it is no label."""


def select_figure(chunk: Chunk, on_page: Collection[PdfRegion]) -> BBox | None:
    """Return where the figure is that a passage is the caption of, or that it stands in, such as a label.

    None where it is neither. Pictures that touch are one figure; of several with one caption it is the
    nearest.

    Args: on_page: all regions of its page.
    """
    own = next((one for one in on_page if one.id == chunk.region_id), None)
    figures = [one for one in on_page if one.region_type is RegionType.FIGURE]
    if own is None or chunk.bbox is None:
        return None
    if own.region_type is RegionType.CAPTION:
        told = [one.bbox for one in figures if own.text and own.text in (one.caption or "")]
    else:
        boxes = (one.bbox for one in figures if not _fills_page(one.bbox, chunk))
        told = [box for box in boxes if box.holds_middle_of(chunk.bbox)]
    nearest = min(told, key=lambda box: (_gap(box, own.bbox), box.y0), default=None)
    return None if nearest is None else _whole(nearest, [one.bbox for one in figures])


def _fills_page(box: BBox, chunk: Chunk) -> bool:
    size = chunk.page_size
    area = (box.x1 - box.x0) * (box.y1 - box.y0)
    return size is not None and area >= _BACKGROUND * size.width * size.height


def _gap(one: BBox, other: BBox) -> float:
    """How far apart two boxes are, in points: the larger of both directions."""
    across = max(one.x0 - other.x1, other.x0 - one.x1, 0.0)
    return max(across, one.y0 - other.y1, other.y0 - one.y1)


def _whole(figure: BBox, others: Collection[BBox]) -> BBox:
    """The box around a picture and all that touch it, or one of them."""
    grown, before = figure, None
    while grown != before:
        before = grown
        for other in others:
            grown = grown.union(other) if _gap(grown, other) <= _TOUCHING else grown
    return grown


def draw_figure(parts: Parts, readers: Readers, chunk_id: str) -> bytes:
    """Draw the figure that a chunk of this generation tells of, without the page around it; PNG.

    Raises: HttpProblem: there is no such chunk, or it tells of none; StoreUnavailable: the graph, which
    knows figures, or the bytes are not there; ParseError: it cannot be drawn.
    """
    chunk = chunk_of_generation(readers, chunk_id)
    box = select_figure(chunk, _regions_beside(readers, chunk))
    if chunk.page_no is None or box is None:
        detail = f"{chunk.id} is neither the caption of a figure of a PDF nor stands in one"
        raise HttpProblem(404, detail, "NotFound")
    return draw_box_apart(parts.pdf_of(readers, chunk), chunk.page_no, box)


def _regions_beside(readers: Readers, chunk: Chunk) -> list[PdfRegion]:
    if chunk.page_no is None:
        return []
    graph = open_graph(readers)
    inside = graph.edges_from([pdf_page_id(chunk.doc, chunk.page_no)], kinds={EdgeKind.CONTAINS})
    found = graph.nodes([edge.dst for edge in inside])
    return [node for node in found if isinstance(node, PdfRegion)]
