"""Tables of the ICDAR 2013 competition: where they are, and which cells are neighbours."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pymupdf

from schemas.fragment import GraphFragment
from schemas.nodes import RegionType
from tests.quality.pdf_documents import regions_of

LEAST_IOU = 0.5

Box = tuple[float, float, float, float]
Grid = dict[tuple[int, int], str]
Relations = Counter[tuple[str, str, str]]
_NOT_WORD = re.compile(r"[\W_]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table on a page (from 1): its box as displayed, origin top-left, and its neighbours."""

    page_no: int
    box: Box
    relations: Relations


@dataclass(slots=True)
class Score:
    """Pooled counts; `shared` are in both."""

    stated: int = 0
    found: int = 0
    shared: int = 0

    def add(self, stated: int, found: int, shared: int) -> None:
        """Add the counts of one document."""
        self.stated += stated
        self.found += found
        self.shared += shared

    @property
    def recall(self) -> float:
        """Share of what is stated that was found."""
        return self.shared / self.stated

    @property
    def precision(self) -> float:
        """Share of what was found that is stated."""
        return self.shared / self.found


def gold_tables(pdf: Path) -> list[Table]:
    """Regions and cells as people drew them, by their names beside the PDF."""
    with pymupdf.open(pdf) as document:
        heights = [page.rect.height for page in document]
    cells = _gold_cells(pdf.with_name(f"{pdf.stem}-str.xml"))
    tables = []
    for table in ElementTree.parse(pdf.with_name(f"{pdf.stem}-reg.xml")).getroot().iter("table"):
        for region in table.iter("region"):
            page_no = int(region.attrib["page"])
            box = region.find("bounding-box")
            assert box is not None
            x1, y1, x2, y2 = (float(box.attrib[name]) for name in ("x1", "y1", "x2", "y2"))
            height = heights[page_no - 1]
            relations = cells.get((table.attrib["id"], region.attrib["id"]), Counter())
            tables.append(Table(page_no=page_no, box=(x1, height - y2, x2, height - y1), relations=relations))
    return tables


def _gold_cells(file: Path) -> dict[tuple[str, str], Relations]:
    found: dict[tuple[str, str], Relations] = {}
    for table in ElementTree.parse(file).getroot().iter("table"):
        for region in table.iter("region"):
            grid: dict[tuple[int, int], tuple[int, str]] = {}
            for number, cell in enumerate(region.iter("cell")):
                text = key(cell.findtext("content") or "")
                for place in _places(cell):
                    grid[place] = (number, text)
            found[table.attrib["id"], region.attrib["id"]] = _neighbours(grid)
    return found


def _places(cell: ElementTree.Element) -> Iterator[tuple[int, int]]:
    row, column = int(cell.attrib["start-row"]), int(cell.attrib["start-col"])
    for at_row in range(row, int(cell.attrib.get("end-row", row)) + 1):
        for at_column in range(column, int(cell.attrib.get("end-col", column)) + 1):
            yield at_row, at_column


def found_tables(pdf: Path, fragment: GraphFragment) -> list[Table]:
    """Table regions, their boxes turned as the page is displayed; a row a line, cells parted by tabs."""
    with pymupdf.open(pdf) as document:
        turned = [(page.rotation, page.cropbox.width, page.cropbox.height) for page in document]
    tables = []
    for region in regions_of(fragment, RegionType.TABLE):
        box = region.bbox
        corners = _displayed((box.x0, box.y0, box.x1, box.y1), *turned[region.page_no - 1])
        grid = {
            (row, column): (row * 10_000 + column, key(cell))
            for row, line in enumerate(region.text.split("\n"))
            for column, cell in enumerate(line.split("\t"))
        }
        tables.append(Table(page_no=region.page_no, box=corners, relations=_neighbours(grid)))
    return tables


def _displayed(box: Box, rotation: int, width: float, height: float) -> Box:
    x0, y0, x1, y1 = box
    match rotation % 360:
        case 90:
            return height - y1, x0, height - y0, x1
        case 180:
            return width - x1, height - y1, width - x0, height - y0
        case 270:
            return y0, width - x1, y1, width - x0
    return box


def _neighbours(grid: dict[tuple[int, int], tuple[int, str]]) -> Relations:
    """Pairs of cells with text: each with the next to its right and below, over empty ones (Göbel 2012)."""
    filled = {place: cell for place, cell in grid.items() if cell[1]}
    pairs: set[tuple[tuple[int, str], tuple[int, str], str]] = set()
    for (row, column), cell in filled.items():
        right = [at for at in filled if at[0] == row and at[1] > column and filled[at] != cell]
        below = [at for at in filled if at[1] == column and at[0] > row and filled[at] != cell]
        if right:
            pairs.add((cell, filled[min(right)], "right"))
        if below:
            pairs.add((cell, filled[min(below)], "below"))
    return Counter((one[1], other[1], way) for one, other, way in pairs)


def key(text: str) -> str:
    """A cell's text as letters and digits; its signs where it has no others."""
    flat = "".join(unicodedata.normalize("NFKC", text).split()).lower()
    return _NOT_WORD.sub("", flat) or flat


def matched(gold: Sequence[Table], found: Sequence[Table]) -> list[tuple[Table, Table]]:
    """Pairs of tables on the same page, the best overlap first, each table once."""
    pairs = sorted(
        (
            (-_iou(one.box, other.box), at, to)
            for at, one in enumerate(gold)
            for to, other in enumerate(found)
            if one.page_no == other.page_no and _iou(one.box, other.box) >= LEAST_IOU
        ),
    )
    taken: list[tuple[int, int]] = []
    for _, at, to in pairs:
        if all(at != other_at and to != other_to for other_at, other_to in taken):
            taken.append((at, to))
    return [(gold[at], found[to]) for at, to in taken]


def _iou(one: Box, other: Box) -> float:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    return shared / (_area(one) + _area(other) - shared)


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
