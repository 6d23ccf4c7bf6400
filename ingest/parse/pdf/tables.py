"""Tables of a PDF page: by its rulings, or by rulings and pymupdf's layout model together."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.parse.pdf.aligned import Aligned
from ingest.parse.pdf.cells import holds_several_figures, is_table_caption, is_unit
from ingest.parse.pdf.opening import Word, add_layout, area, around, holds_point, shared_area, to_box
from schemas.nodes import BBox

MAX_TABLE_PAGES = 400
"""Pages of one document searched, about 30 s: a book of tables is still read within its deadline."""

_LEAST_HOUSED = 0.9
"""Share of words that must lie within one cell each; a drawing on a grid has labels across its lines."""

_LEAST_FILLED = 0.4
"""Share of cells that must contain text."""

_LEAST_LUMPED = 2
"""Cells with several figures each by which a table puts rows together; one may be a list."""

_LEAST_CUT = 3
_MOST_CUT = 0.5
"""Texts of several words, and the share of all such, that no cell holds whole where columns are wrong; so
many rows stand whole in one cell where there are none."""

_SAME = 0.7
"""Share of the smaller of two boxes that lies in the other when they are one table."""

_SLACK = 2.0
"""Points that a word may stick out of its cell."""

_LEVEL, _UPWARDS, _DOWNWARDS = (1, 0), (0, -1), (0, 1)
"""Directions of text, y pointing down."""

MAX_HEADER_ROWS = 3
_LEAST_SIDE = 2

_QUANTITY = re.compile(r"[^\w\s]?\s?[+\u2212-]?\d[\d\s.,]*\s?[^\w\s]?")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
"""A number with its sign and unit sign is a quantity; years name columns."""

Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of at least 2 x 2 cells, row by row as its text is read; an empty or merged cell is "".

    A merged cell stands at its first place. `boxes` are those of the rows, `header_rows` how many name the
    columns, `sections` which rows name those below them.
    """

    bbox: BBox
    rows: Rows
    boxes: tuple[BBox, ...]
    header_rows: int = 0
    sections: tuple[int, ...] = ()


def find_tables(
    page: Any,
    placed: Sequence[Sequence[Any]],
    blocks: Sequence[dict[str, Any]],
    aligned: Sequence[Aligned] = (),
    *,
    with_layout: bool,
) -> tuple[Table, ...]:
    """Return the tables of an unrotated page, those among its *aligned* rows too.

    *placed* are the words of `get_text("words")`, *blocks* those of `get_text("dict")`. Costs 50 CPU-ms by
    rulings alone and ten times that with the layout model, which also finds tables without rulings; ask
    `gate` and `evidence` first. Where the model is lost, rulings and lined-up texts decide.
    """
    words: list[Word] = [(word[0], word[1], word[2], word[3], word[4]) for word in placed]
    # The model does not read turned pages: it takes their prose for tables.
    level = _direction(to_box(page.rect), blocks) == _LEVEL
    modelled = with_layout and level and add_layout(page, words)
    finder = page.find_tables(union=True) if modelled else page.find_tables(use_layout=False)
    # pymupdf answers None where its search failed.
    found = finder.tables if finder is not None else ()
    return with_aligned(tuple(_tables(found, words, blocks, sure=modelled)), aligned, sure=modelled)


def with_aligned(tables: Sequence[Table], aligned: Sequence[Aligned], *, sure: bool) -> tuple[Table, ...]:
    """Add the tables that only line up to those found otherwise.

    Where both see one, that with more columns is taken, unless the layout model was *sure*: rulings alone
    may part nothing but the head from the body. One that puts several figures into a cell is never taken.
    """
    kept = list(tables)
    for found in aligned:
        table = _made(found.bbox, _without_empty(found.texts()), tuple(row.bbox for row in found.rows))
        same = [other for other in kept if shared_area(other.bbox, table.bbox) > 0]
        if not same:
            kept.append(table)
        elif len(same) == 1 and (_is_finer(table, same[0], sure=sure) or is_misread(found, same[0])):
            kept[kept.index(same[0])] = table
    return tuple(kept)


def _is_finer(table: Table, other: Table, *, sure: bool) -> bool:
    within = shared_area(table.bbox, other.bbox) > _SAME * min(area(table.bbox), area(other.bbox))
    more, columns = len(table.rows) - len(other.rows), len(table.rows[0]) - len(other.rows[0])
    lumped = more > 0 and columns >= 0 and lumps_rows(other.rows)
    return within and (lumped or (not sure and more >= 0 and columns > 0))


def is_misread(found: Aligned, table: Table) -> bool:
    """Whether *table* has columns that run through texts without a gap, or puts whole rows into a cell."""
    if shared_area(table.bbox, found.bbox) <= _SAME * area(table.bbox):
        return False
    cells = [cell for row in table.rows for cell in row if cell]
    # A number before a name may be a column of its own, a little closer than others.
    names = [cell.text for row in found.rows for cell in row.cells if _is_name(cell.text)]
    cut = sum(not any(name in cell for cell in cells) for name in names)
    whole = [row.text for row in found.rows if len(row.cells) >= _LEAST_CUT]
    joined = sum(any(row in cell for cell in cells) for row in whole)
    return (cut >= _LEAST_CUT and cut > _MOST_CUT * len(names)) or joined >= _LEAST_CUT


def _is_name(text: str) -> bool:
    return " " in text and all(word.isalpha() for word in text.split())


def lumps_rows(rows: Rows) -> bool:
    """Whether rows of the page stand together in one: cells hold several figures each."""
    return sum(holds_several_figures(cell) for row in rows for cell in row) >= _LEAST_LUMPED


def _tables(
    found: Sequence[Any], words: Sequence[Word], blocks: Sequence[dict[str, Any]], *, sure: bool
) -> Iterator[Table]:
    for table in found:
        box = to_box(table.bbox)
        inside = [word for word in words if _holds(box, word, 0.0)]
        cells = [[to_box(cell) if cell else None for cell in row.cells] for row in table.rows]
        placed = place_words(cells, inside)
        if not sure and not _is_table([cell for row in cells for cell in row if cell], placed, inside):
            continue
        towards = _direction(box, blocks)
        rows = [row for row in zip(cells, placed, strict=True) if any(row[1])]
        named = _caption_rows(rows) if towards == _LEVEL else 0
        filled = _without_empty([_texts(said) for _, said in rows[named:]])
        if min(len(filled), len(filled[0]) if filled else 0) >= _LEAST_SIDE:
            boxes = tuple(_row_box(row, said) for row, said in rows[named:])
            yield _table(around(boxes) if named else box, filled, boxes, towards)


def _caption_rows(rows: Sequence[tuple[Sequence[BBox | None], Sequence[Sequence[Word]]]]) -> int:
    """Count the rows at the top that are the table's caption and unit, which belong beside it."""
    count = 0
    for _, said in rows:
        line = " ".join(filter(None, _texts(said)))
        alone = sum(map(bool, said)) == 1
        if not (is_table_caption(line) or (alone and is_unit(line))):
            break
        count += 1
    return count


def _texts(row: Sequence[Sequence[Word]]) -> tuple[str, ...]:
    return tuple(" ".join(word[4] for word in cell) for cell in row)


def _table(box: BBox, filled: Rows, boxes: tuple[BBox, ...], towards: tuple[int, int]) -> Table:
    rows = _as_read(filled, towards)
    # The rows of a table on its side are the columns of the grid.
    boxes = boxes if towards == _LEVEL else (box,) * len(rows)
    return _made(box, rows, boxes)


def _made(box: BBox, rows: Rows, boxes: tuple[BBox, ...]) -> Table:
    sections = find_sections(rows)
    if len(sections) > 1 and sections[0] == 0 and (head := _head_below(rows, sections)):
        # The columns are named below the name of the first section.
        order = [head, *(at for at in range(len(rows)) if at != head)]
        rows, boxes = tuple(rows[at] for at in order), tuple(boxes[at] for at in order)
        sections = find_sections(rows)
    return Table(bbox=box, rows=rows, boxes=boxes, header_rows=count_header_rows(rows), sections=sections)


def find_sections(rows: Rows) -> tuple[int, ...]:
    """Return the rows of one text that name the rows below; one that goes on in the next names none."""
    found = []
    filled = False
    for at in range(len(rows) - 1, -1, -1):
        row = rows[at]
        alone = len(row) > _LEAST_SIDE and bool(row[0]) and not any(row[1:])
        named = filled and not row[0][:1].islower() and not _is_quantity(row[0])
        if alone and named and not rows[at + 1][0][:1].islower():
            found.append(at)
        else:
            filled = bool(row[0]) and any(row[1:])
    return tuple(reversed(found))


def _head_below(rows: Rows, sections: Sequence[int]) -> int | None:
    """The row below the name of the first section, if it names columns."""
    first = next((at for at in range(len(rows)) if at not in sections), 0)
    return None if any(map(_is_quantity, rows[first])) else first


def _row_box(row: Sequence[BBox | None], said: Sequence[Sequence[Word]]) -> BBox:
    """Return the box of a row, around its words too, which may stick out of their cells."""
    own = [cell for cell in row if cell]
    return around((*own, *(to_box(word[:4]) for cell in said for word in cell)))


def count_header_rows(rows: Rows) -> int:
    """Return how many rows at the top name the columns: the first, unless it contains quantities.

    Rows below it that leave their first cell to a merged one above count too, as "Female | Male" below
    "Finland", and the one below a title. At least one row is left.
    """
    count = 0
    while count < min(MAX_HEADER_ROWS, len(rows) - 1) and not any(map(_is_quantity, rows[count])):
        if count and rows[count][0] and any(rows[count - 1][1:]):
            break
        count += 1
    return count


def _is_quantity(cell: str) -> bool:
    return bool(_QUANTITY.fullmatch(cell)) and not _YEAR.fullmatch(cell)


def place_words(cells: Sequence[Sequence[BBox | None]], words: Sequence[Word]) -> list[list[list[Word]]]:
    """Give each word, in file order, to one cell: the smallest that holds its middle, or else the nearest.

    Rebuilding words from letters would break small and turned type. Cells that reach over others would say
    the words of those once more, and what stands between cells would be lost.
    """
    places = [
        (row, column, cell) for row, line in enumerate(cells) for column, cell in enumerate(line) if cell
    ]
    bands: dict[tuple[float, float], list[tuple[int, int, BBox]]] = defaultdict(list)
    for place in places:
        bands[place[2].y0, place[2].y1].append(place)
    held: list[list[list[Word]]] = [[[] for _ in line] for line in cells]
    for word in words if places else ():
        y = (word[1] + word[3]) / 2
        level = [place for (y0, y1), band in bands.items() if y0 <= y <= y1 for place in band] or places
        row, column, _ = min(level, key=lambda place: _distance(place[2], word))
        held[row][column].append(word)
    return held


def _distance(cell: BBox, word: Word) -> tuple[float, float]:
    """How far the middle of a word is from a cell, in points, and then how large the cell is."""
    x, y = (word[0] + word[2]) / 2, (word[1] + word[3]) / 2
    aside, away = max(cell.x0 - x, x - cell.x1, 0.0), max(cell.y0 - y, y - cell.y1, 0.0)
    return aside + away, area(cell)


def _without_empty(texts: Sequence[Sequence[str]]) -> Rows:
    """Drop rows and columns without any text; rulings that are drawn twice make such."""
    columns = [index for index, column in enumerate(zip(*texts, strict=True)) if any(column)]
    return tuple(tuple(row[index] for index in columns) for row in texts if any(row))


def _is_table(cells: Sequence[BBox], texts: Sequence[Sequence[object]], words: Sequence[Word]) -> bool:
    bands: dict[tuple[float, float], list[BBox]] = defaultdict(list)
    for cell in cells:
        bands[cell.y0 - _SLACK, cell.y1 + _SLACK].append(cell)
    housed = sum(
        any(
            _houses(cell, word)
            for (y0, y1), band in bands.items()
            if y0 <= (word[1] + word[3]) / 2 <= y1
            for cell in band
        )
        for word in words
    )
    filled = sum(bool(text) for row in texts for text in row)
    return housed >= _LEAST_HOUSED * len(words) and filled >= _LEAST_FILLED * len(cells)


def _direction(box: BBox, blocks: Sequence[dict[str, Any]]) -> tuple[int, int]:
    """Where most letters inside *box* run to."""
    letters: Counter[tuple[int, int]] = Counter()
    for block in blocks:
        for line in block.get("lines", ()):
            x0, y0, x1, y1 = line["bbox"]
            if _holds(box, (x0, y0, x1, y1, ""), 0.0):
                towards = round(line["dir"][0]), round(line["dir"][1])
                letters[towards] += sum(len(span["text"]) for span in line["spans"])
    return max(letters, key=lambda towards: (letters[towards], towards), default=_LEVEL)


def _as_read(rows: Rows, towards: tuple[int, int]) -> Rows:
    """Turn the grid of a table that lies on its side, so that its rows are rows to a reader."""
    if towards == _UPWARDS:
        return tuple(zip(*reversed(rows), strict=True))
    if towards == _DOWNWARDS:
        return tuple(reversed(tuple(zip(*rows, strict=True))))
    return rows


def _houses(cell: BBox, word: Word) -> bool:
    return cell.x0 - _SLACK <= word[0] and word[2] <= cell.x1 + _SLACK and _holds(cell, word, _SLACK)


def _holds(box: BBox, word: Word, slack: float) -> bool:
    return holds_point(box, (word[0] + word[2]) / 2, (word[1] + word[3]) / 2, slack=slack)
