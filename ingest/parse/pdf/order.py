"""The reading order of a page: columns, the white between them, and columns stored row by row."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from ingest.parse.pdf.lines import Block, Line, cut_between
from ingest.parse.pdf.opening import around, share_height
from schemas.nodes import BBox

_LEAST_BLOCKS = 2
"""Blocks that each column must have before a gap between them is called a gutter."""

_LEAST_WIDTH = 0.25
"""Share of the page width that half of a column's blocks must have: terms and definitions are no columns."""


def column_of(box: BBox, gutter: float | None) -> int:
    """Return 0 for the left or only column, 1 for the right one, -1 for what spans both."""
    if gutter is None or box.x1 <= gutter:
        return 0
    return -1 if box.x0 < gutter else 1


def find_gutter(boxes: Sequence[BBox], width: float) -> float | None:
    """Find the vertical line in the middle third that most blocks keep clear of, with blocks beside it."""
    best: tuple[int, float] | None = None
    for x in sorted({box.x0 - 1 for box in boxes if width / 3 <= box.x0 <= 2 * width / 3}):
        sides = [box for box in boxes if box.x1 <= x], [box for box in boxes if box.x0 >= x]
        fewest = min(map(len, sides))
        beside = sum(map(len, sides))
        if fewest < _LEAST_BLOCKS or len(boxes) - beside > fewest:
            continue
        if all(median(box.x1 - box.x0 for box in side) >= _LEAST_WIDTH * width for side in sides):
            best = max(best or (0, x), (beside, x))
    return best[1] if best else None


_NUMBERED = re.compile(r"\s*(\d{1,3})[.)]\s")


def box_of(block: Block) -> BBox:
    """Return the smallest box around the lines of a block."""
    return around(line.bbox for line in block)


def order_blocks(blocks: Sequence[Block], gutter: float | None) -> tuple[Block, ...]:
    """Put blocks into reading order.

    Files mostly store text as it is read; sorting by height would weave columns into each other. Only
    where the file goes back from the right column to the left are columns read one after the other,
    between the blocks that span both. Numbers before headings or items decide where there are some.
    """
    boxes = [box_of(block) for block in blocks]
    returns = 0 if gutter is None else _returns(boxes, gutter)
    if gutter is None or not returns:
        return tuple(blocks)
    columns = _by_column(blocks, boxes, gutter)
    stored_steps, column_steps = _steps_back(blocks), _steps_back(columns)
    if stored_steps != column_steps:
        return columns if column_steps < stored_steps else tuple(blocks)
    return columns if returns > 1 else tuple(blocks)


def _by_column(blocks: Sequence[Block], boxes: Sequence[BBox], gutter: float) -> tuple[Block, ...]:
    band = 0
    keys: list[tuple[int, int, int]] = []
    for index, box in enumerate(boxes):
        spans = column_of(box, gutter) < 0
        band += spans
        keys.append((band, max(column_of(box, gutter), 0), index))
        band += spans
    return tuple(blocks[index] for _, _, index in sorted(keys))


def _returns(boxes: Sequence[BBox], gutter: float) -> int:
    """Count how often the file goes back from right to left between spanning blocks."""
    returns = 0
    was_right = False
    for box in boxes:
        column = column_of(box, gutter)
        returns += was_right and column == 0
        was_right = column == 1
    return returns


def _steps_back(blocks: Sequence[Block]) -> int:
    """Count the numbered blocks ("3. Title") that come after one with a higher number."""
    numbers = [int(found.group(1)) for block in blocks if (found := _NUMBERED.match(block[0].text))]
    return sum(below < above for above, below in pairwise(numbers))


_LEAST_ROWS = 4
_LEAST_SHARE = 0.5
"""Rows with text on both sides of a gutter, and the share of all rows between the first and last of them."""

_LEAST_WOVEN = 0.3
"""Returns to a column for each of its lines, at least."""

_LEAST_WHITE = 7.0
_SAME = 2.5
"""Points of white that a gutter has, and by which the left edges of a column differ."""

_LEAST_LETTERS, _LEAST_WORDS = 15, 3
_LEAST_RUNNING = 0.35
"""What half of the lines of a column have; share of them that go on in small letters: cells do not."""

_PITCH = 1.6
"""Distances of lines, in those usual in a column, from which a line begins a new paragraph."""

_SHARED = 0.5
"""Share of the height of a line that another must share to stand in its row."""

Row = tuple[Line, ...]


def split_at_gutters(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Read columns one by one where blocks hold the lines of several, in turns.

    Nothing else is moved: where text is stored as it is read, there is no row of two texts to see.
    """
    if sum(_turns(block) for block in blocks) + sum(map(_is_beside, blocks, blocks[1:])) < _LEAST_ROWS:
        return tuple(blocks)
    rows = _rows([line for block in blocks for line in block if line.upright])
    columns = _columns(rows)
    if not _are_woven(columns, blocks):
        return tuple(blocks)
    taken = {line for column in columns for line in column}
    placed = False
    found: list[Block] = []
    for block in blocks:
        own = [line not in taken for line in block]
        start = own.index(False) if False in own else len(block)
        found.append(block[:start])
        if start < len(block) and not placed:
            found.extend(part for column in columns for part in _paragraphs(column))
            placed = True
        found.append(tuple(line for line, is_own in zip(block[start:], own[start:], strict=True) if is_own))
    return tuple(block for block in found if block)


def _are_woven(columns: Sequence[Sequence[Line]], blocks: Sequence[Block]) -> bool:
    """Whether the file goes back from a column to one on its left again and again."""
    places = {line: number for number, column in enumerate(columns) for line in column}
    stored = [places[line] for block in blocks for line in block if line in places]
    returns = sum(after < before for before, after in pairwise(stored))
    return returns >= _LEAST_ROWS - 1 and returns >= _LEAST_WOVEN * min(map(len, columns))


def _turns(block: Block) -> int:
    return sum(_in_row(one, other) and other.bbox.x0 > one.bbox.x1 for one, other in pairwise(block))


def _is_beside(one: Block, other: Block) -> bool:
    return _in_row(one[-1], other[0]) and other[0].bbox.x0 > one[-1].bbox.x1


def _in_row(one: Line, other: Line) -> bool:
    return share_height(one.bbox, other.bbox, least=_SHARED)


def _rows(lines: Sequence[Line]) -> list[Row]:
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: (line.bbox.y0 + line.bbox.y1, line.bbox.x0)):
        if rows and _in_row(rows[-1][0], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [tuple(sorted(row, key=lambda line: line.bbox.x0)) for row in rows]


def _columns(rows: Sequence[Row]) -> list[list[Line]]:
    """Return the lines of each column from left to right; none where there is no gutter in these rows."""
    for edge in _edges(rows):
        run = _run(rows, edge)
        if run is None:
            continue
        inside = rows[run.start : run.stop]
        sides = [
            [tuple(line for line in row if (line.bbox.x0 >= edge - _SAME) is is_right) for row in inside]
            for is_right in (False, True)
        ]
        if all(map(_is_prose, sides)):
            parts = [[row for row in side if row] for side in sides]
            return [
                column
                for part in parts
                for column in _columns(part) or [[line for row in part for line in row]]
            ]
    return []


def _edges(rows: Sequence[Row]) -> Iterator[float]:
    """Left edges that several rows share behind some white, the widest white first."""
    counts: Counter[int] = Counter()
    for row in rows:
        apart = (right for left, right in pairwise(row) if right.bbox.x0 - left.bbox.x1 >= _LEAST_WHITE)
        counts.update({round(line.bbox.x0) for line in apart})
    near = {edge: sum(counts[edge + step] for step in (-2, -1, 0, 1, 2)) for edge in counts}
    found = sorted(near, key=lambda edge: (-near[edge], -counts[edge], edge))
    return (float(edge) for edge in found if near[edge] >= _LEAST_ROWS)


def _run(rows: Sequence[Row], edge: float) -> range | None:
    """Rows in which nothing crosses the white before an edge, with text on both sides of most."""
    best: range | None = None
    start = 0
    for at in range(len(rows) + 1):
        if at < len(rows) and not any(_crosses(line, edge) for line in rows[at]):
            continue
        both = [index for index in range(start, at) if _is_both(rows[index], edge)]
        if len(both) >= _LEAST_ROWS and len(both) >= _LEAST_SHARE * (both[-1] + 1 - both[0]):
            run = range(both[0], _end(rows, both, at))
            best = max(best or run, run, key=len)
        start = at + 1
    return best


def _end(rows: Sequence[Row], both: Sequence[int], stop: int) -> int:
    """A column may be longer than the other, without a gap."""
    pitch = median(box_of(rows[at + 1]).y0 - box_of(rows[at]).y0 for at in range(both[0], both[-1]))
    end = both[-1] + 1
    while end < stop and box_of(rows[end]).y0 - box_of(rows[end - 1]).y0 <= _PITCH * pitch:
        end += 1
    return end


def _crosses(line: Line, edge: float) -> bool:
    return line.bbox.x0 < edge - _SAME and line.bbox.x1 > edge - _LEAST_WHITE + _SAME


def _is_both(row: Row, edge: float) -> bool:
    return row[0].bbox.x0 < edge - _SAME and any(abs(line.bbox.x0 - edge) <= _SAME for line in row)


def _is_prose(rows: Sequence[Row]) -> bool:
    texts = [text for row in rows if (text := " ".join(line.text.strip() for line in row))]
    letters = [sum(map(str.isalpha, text)) for text in texts]
    if not texts or median(letters) < _LEAST_LETTERS:
        return False
    if not any(char.islower() for text in texts for char in text):
        return True
    running = sum(text[0].islower() for text in texts)
    return median(len(text.split()) for text in texts) >= _LEAST_WORDS and running >= _LEAST_RUNNING * len(
        texts
    )


def _paragraphs(column: Sequence[Line]) -> Iterator[Block]:
    pitches = [below.bbox.y0 - above.bbox.y0 for above, below in pairwise(column)]
    usual = median(pitch for pitch in pitches if pitch > 1) if any(pitch > 1 for pitch in pitches) else 0
    return cut_between(column, lambda above, below: below.bbox.y0 - above.bbox.y0 > _PITCH * usual)
