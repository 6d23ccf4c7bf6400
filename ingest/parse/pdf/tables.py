"""Ruled tables of a PDF page, looked for only where rulings can form one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.geometry import BBox

MAX_CONTENT = 1_000_000
"""Bytes of page content, compressed, above which rulings are not looked at: maps and plots."""

MAX_PATHS = 5_000
"""Vector paths above which finding tables takes seconds."""

MAX_PAGES = 400
"""Pages of one document searched, about 30 s: a book of tables is still read within its deadline."""

_LEAST_RULINGS = 3
"""Rulings in each direction that 2 x 2 cells need; a framed box has only two."""

_LEAST_HOUSED = 0.9
"""Share of words that must lie within one cell each; a drawing on a grid has labels across its lines."""

_LEAST_FILLED = 0.4
"""Share of cells that must hold text."""

_SLACK = 2.0
_THIN = 2.0
_GRID = 3.0
"""Points: how far a word may stick out of its cell, how thick a ruling is, how close two count as one."""

Word = tuple[float, float, float, float, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of at least 2 x 2 cells, row by row; a merged or empty cell is an empty text."""

    bbox: BBox
    rows: tuple[tuple[str, ...], ...]


def may_hold_tables(document: Any, page: Any) -> tuple[bool, tuple[str, ...]]:
    """Whether the page has rulings in both directions; a warning where it has too many to look at."""
    if sum(_length(document, xref) for xref in page.get_contents()) > MAX_CONTENT:
        return False, (f"page {page.number + 1}: tables not looked for, page content is too long",)
    paths = page.get_cdrawings()
    if len(paths) > MAX_PATHS:
        return False, (f"page {page.number + 1}: tables not looked for, {len(paths)} drawings",)
    return _has_grid(paths), ()


def find_tables(page: Any, textpage: Any) -> tuple[Table, ...]:
    """Give the ruled tables of an unrotated page; costs about 50 CPU-ms, so ask `may_hold_tables` first."""
    finder = page.find_tables(use_layout=False)
    # pymupdf answers None where its search failed.
    if finder is None or not finder.tables:
        return ()
    words = [word[:5] for word in page.get_text("words", textpage=textpage)]
    return tuple(_tables(finder.tables, words))


def _length(document: Any, xref: int) -> int:
    kind, value = document.xref_get_key(xref, "Length")
    if kind == "xref":
        value = document.xref_object(int(value.split()[0]))
    return int(value) if value.isdigit() else 0


def _has_grid(paths: Sequence[dict[str, Any]]) -> bool:
    xs: set[int] = set()
    ys: set[int] = set()
    for path in paths:
        for item in path["items"]:
            _add_rulings(item, xs, ys)
    return len(xs) >= _LEAST_RULINGS and len(ys) >= _LEAST_RULINGS


def _add_rulings(item: Any, xs: set[int], ys: set[int]) -> None:
    if item[0] == "l":
        (x0, y0), (x1, y1) = item[1], item[2]
    elif item[0] == "re":
        x0, y0, x1, y1 = item[1]
    else:
        return
    if abs(y1 - y0) < _THIN:
        ys.add(round(y0 / _GRID))
    elif abs(x1 - x0) < _THIN:
        xs.add(round(x0 / _GRID))
    elif item[0] == "re":
        xs.update((round(x0 / _GRID), round(x1 / _GRID)))
        ys.update((round(y0 / _GRID), round(y1 / _GRID)))


def _tables(found: Sequence[Any], words: Sequence[Word]) -> Iterator[Table]:
    for table in found:
        if table.row_count < 2 or table.col_count < 2:
            continue
        box = _box(table.bbox)
        inside = [word for word in words if _holds(box, word, 0.0)]
        rows = [[_box(cell) if cell else None for cell in row.cells] for row in table.rows]
        texts = tuple(tuple(_text_in(cell, inside) for cell in row) for row in rows)
        if _is_table([cell for row in rows for cell in row if cell], texts, inside):
            yield Table(bbox=box, rows=texts)


def _text_in(cell: BBox | None, words: Sequence[Word]) -> str:
    """Words by their middle, in file order: rebuilding them from letters breaks small and turned type."""
    return "" if cell is None else " ".join(word[4] for word in words if _holds(cell, word, 0.0))


def _is_table(cells: Sequence[BBox], texts: Sequence[Sequence[str]], words: Sequence[Word]) -> bool:
    housed = sum(any(_houses(cell, word) for cell in cells) for word in words)
    filled = sum(bool(text) for row in texts for text in row)
    columns = sum(any(column) for column in zip(*texts, strict=True))
    rows = sum(any(row) for row in texts)
    return (
        min(rows, columns) > 1
        and housed >= _LEAST_HOUSED * len(words)
        and filled >= _LEAST_FILLED * len(cells)
    )


def _houses(cell: BBox, word: Word) -> bool:
    return cell.x0 - _SLACK <= word[0] and word[2] <= cell.x1 + _SLACK and _holds(cell, word, _SLACK)


def _holds(box: BBox, word: Word, slack: float) -> bool:
    x, y = (word[0] + word[2]) / 2, (word[1] + word[3]) / 2
    return box.x0 - slack <= x <= box.x1 + slack and box.y0 - slack <= y <= box.y1 + slack


def _box(rect: Any) -> BBox:
    x0, y0, x1, y1 = (round(float(value), 2) for value in rect)
    return BBox(x0, y0, x1, y1)
