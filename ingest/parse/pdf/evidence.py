"""What the text of a page says about tables on it: captions, and texts that line up in columns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.parse.pdf.aligned import Aligned, find_aligned, find_plain
from ingest.parse.pdf.cells import is_table_caption, text_rows
from ingest.parse.pdf.lines import is_mono, monospaced_fonts
from ingest.parse.pdf.opening import Word, shared_area
from ingest.parse.pdf.order import find_gutter
from ingest.parse.pdf.tables import Table, is_misread, lumps_rows
from schemas.nodes import BBox

MAX_WORDS = 10_000
"""Words of a page above which it is not looked at: five times the densest page of a newspaper."""

_LEAST_SIGNS = 20
"""Signs of a block that shows a column of text."""

_TYPEWRITTEN = 0.98
"""Share of the letters of a page in a typewriter face from which it is the face of the text, not of code."""

_MOST_LUMPED = 1.5
"""Rows of texts apart for each row of a table, above which its rows are not parted."""

_LEAST_INSIDE = 0.7
"""Share of rows in line that must lie in a table that holds them."""

PlacedWord = tuple[float, float, float, float, str, int, int, int]
"""A word of `get_text("words")`: its box, text, block, line and number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableEvidence:
    """How many lines begin as the caption of a table, and which rows line up as tables do.

    `parted` are the heights of all rows with texts apart, `plain` tables of words alone, which are no sign of
    others.
    """

    captions: int = 0
    aligned: tuple[Aligned, ...] = ()
    plain: tuple[Aligned, ...] = ()
    parted: tuple[float, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.captions or self.aligned)

    def is_met_by(self, tables: Sequence[Table]) -> bool:
        """Whether *tables* hold what the text shows.

        There is one for each caption, each has the columns that line up there, and none has rows that hold
        several of the page: rulings may part nothing but the head from the body.
        """
        return (
            len(tables) >= self.captions
            and all(any(_holds(table, found) for table in tables) for found in self.aligned)
            and not any(lumps_rows(table.rows) or self._lumps(table) for table in tables)
        )

    def _lumps(self, table: Table) -> bool:
        inside = sum(table.bbox.y0 <= y <= table.bbox.y1 for y in self.parted)
        return inside > _MOST_LUMPED * len(table.rows)


def table_evidence(
    words: Sequence[PlacedWord], blocks: Sequence[dict[str, Any]], width: float
) -> TableEvidence:
    """Look for tables in the level text of a page, 2 CPU-ms; *blocks* are those of `get_text("dict")`.

    Listings are left out, whose columns are no table, and each of two columns of text is looked at alone.
    """
    if len(words) > MAX_WORDS:
        return TableEvidence()
    lines = {
        (block["number"], number): line
        for block in blocks
        for number, line in enumerate(block.get("lines", ()))
    }
    code = _code_lines(lines)
    taken = [
        word
        for word in words
        if (line := lines.get((word[5], word[6]))) is not None
        and line["dir"][0] > 0.99
        and (word[5], word[6]) not in code
    ]
    captions = 0
    found: list[Aligned] = []
    plain: list[Aligned] = []
    parted: list[float] = []
    for column in _columns(taken, blocks, width):
        rows = text_rows(column)
        captions += sum(is_table_caption(row.text) for row in rows)
        found.extend(find_aligned(rows))
        plain.extend(find_plain(rows))
        parted.extend((row.bbox.y0 + row.bbox.y1) / 2 for row in rows if len(row.cells) > 1)
    alone = tuple(one for one in plain if not any(shared_area(one.bbox, other.bbox) for other in found))
    return TableEvidence(captions=captions, aligned=tuple(found), plain=alone, parted=tuple(parted))


def _holds(table: Table, found: Aligned) -> bool:
    box, rows = table.bbox, found.rows
    inside = sum(box.y0 <= (row.bbox.y0 + row.bbox.y1) / 2 <= box.y1 for row in rows)
    fits = inside >= _LEAST_INSIDE * len(rows) and len(table.rows[0]) > len(found.bounds)
    return fits and not is_misread(found, table)


def _code_lines(lines: Mapping[tuple[int, int], dict[str, Any]]) -> frozenset[tuple[int, int]]:
    """Lines in a typewriter face, unless the whole page is."""
    even = monospaced_fonts(span for line in lines.values() for span in line["spans"])
    code: set[tuple[int, int]] = set()
    letters = mono = 0
    for place, line in lines.items():
        spans = [span for span in line["spans"] if span["text"].strip()]
        typed = sum(len(span["text"]) for span in spans if span["font"] in even or is_mono(span))
        said = sum(len(span["text"]) for span in spans)
        letters, mono = letters + said, mono + typed
        if typed == said:
            code.add(place)
    return frozenset() if mono >= _TYPEWRITTEN * letters else frozenset(code)


def _columns(
    words: Sequence[PlacedWord], blocks: Sequence[dict[str, Any]], width: float
) -> Iterator[list[Word]]:
    boxes = {block["number"]: BBox(*block["bbox"]) for block in blocks if _signs(block) >= _LEAST_SIGNS}
    gutter = find_gutter(list(boxes.values()), width)
    if gutter is None:
        yield [word[:5] for word in words]
        return
    spanning = {number for number, box in boxes.items() if box.x0 < gutter < box.x1}
    yield [word[:5] for word in words if word[5] not in spanning and word[2] <= gutter]
    yield [word[:5] for word in words if word[5] not in spanning and word[0] >= gutter]
    yield [word[:5] for word in words if word[5] in spanning]


def _signs(block: dict[str, Any]) -> int:
    return sum(len(span["text"]) for line in block.get("lines", ()) for span in line["spans"])
