"""Workbooks (SpreadsheetML, ECMA-376-1, 18): what the cells of each sheet show, and what is hidden."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any
from zipfile import ZipFile

from ingest.parse.formats.number_formats import BUILT_IN, is_date_format, show_number
from ingest.parse.formats.opc import OfficeFiles, relations
from ingest.parse.formats.sniffing import read_member, read_xml
from schemas.errors import ParseError

_OFFICE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
EXCEL = OfficeFiles(
    program="Excel",
    suffixes=(".xlsx", ".xlsm"),
    media_types=(_OFFICE, "application/vnd.ms-excel.sheet.macroenabled.12"),
    main="xl/workbook.xml",
    root=b"workbook",
    marks=(b"xl/w", b"xl/_rels/"),
    kept=re.compile(r"xl/(?!styles|theme|calcChain)(?:\w+/)?[\w-]+\.xml|docProps/\w+\.xml"),
)

Place = tuple[int, int]
"""Row and column, from 1."""

Area = tuple[int, int, int, int]
"""First row and column, last row and column."""

_REF = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})")
_PLAIN = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_TRUE = frozenset({"1", "true"})
_LONGEST = 10
"""Digits of a number of a row, a style or a string; a longer one is none."""

_LAST_ROW, _LAST_COLUMN = 1_048_576, 16_384


@dataclass(frozen=True, slots=True, eq=False)
class SheetCell:
    """What a cell shows; `place` is where it stands, that of the first where several are merged."""

    text: str
    place: Place
    is_number: bool = False


@dataclass(slots=True)
class Worksheet:
    """A sheet as it is stored; `unvalued` counts formulas whose value is not in the file.

    `tables` are the cells of what the file calls a table, and how many rows of them are its header.
    """

    cells: dict[Place, SheetCell] = field(default_factory=dict)
    merged: list[Area] = field(default_factory=list)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    links: dict[Place, str] = field(default_factory=dict)
    tables: list[tuple[Area, int]] = field(default_factory=list)
    unvalued: int = 0

    def hides(self, place: Place) -> bool:
        """Whether the row or the column of a place is hidden."""
        return place[0] in self.hidden_rows or place[1] in self.hidden_columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Workbook:
    """A workbook: of its sheets in their order the name, the part, and whether it is hidden.

    `strings` are shared by all cells, `codes` the number formats by style.
    """

    archive: ZipFile
    subject: str
    sheets: tuple[tuple[str, str, bool], ...]
    strings: tuple[str, ...]
    codes: tuple[str, ...]
    since_1904: bool


def open_workbook(archive: ZipFile, *, subject: str) -> Workbook:
    """Read all of a workbook but its sheets. Raises: ParseError: damaged."""
    main = EXCEL.main_part(archive, subject=subject)
    refers = relations(archive, main, subject=subject)
    root = read_xml(archive, main, subject=subject)
    parts = {kind: name for kind, name in refers.values() if name in archive.namelist()}
    styles, strings = (
        read_xml(archive, parts[kind], subject=subject) if kind in parts else root
        for kind in ("styles", "sharedStrings")
    )
    return Workbook(
        archive=archive,
        subject=subject,
        sheets=tuple(_sheets(root, refers)),
        strings=tuple(_string(one) for one in strings.iter("{*}si")),
        codes=tuple(_codes(styles)),
        since_1904=any(one.get("date1904") in _TRUE for one in root.iter("{*}workbookPr")),
    )


def _sheets(root: Any, refers: dict[str, tuple[str, str]]) -> Iterator[tuple[str, str, bool]]:
    for sheet in root.iter("{*}sheet"):
        kind, part = refers.get(_relation_of(sheet), ("", ""))
        if kind == "worksheet":
            yield sheet.get("name") or "", part, (sheet.get("state") or "visible") != "visible"


def _relation_of(element: Any) -> str:
    return next((value for name, value in element.attrib.items() if name.endswith("}id")), "")


def _codes(styles: Any) -> Iterator[str]:
    own = {one.get("numFmtId"): one.get("formatCode") or "" for one in styles.iter("{*}numFmt")}
    for style in (style for styles_of_cells in styles.iter("{*}cellXfs") for style in styles_of_cells):
        number = style.get("numFmtId") or "0"
        yield own.get(number) or BUILT_IN.get(_integer(number), "General")


def read_worksheet(book: Workbook, part: str, *, rows: int = _LAST_ROW) -> Worksheet:
    """Read a sheet, row by row, up to one. Raises: ParseError: damaged."""
    from lxml import etree

    sheet, row = Worksheet(), 0
    refers = relations(book.archive, part, subject=book.subject)
    data = BytesIO(read_member(book.archive, part, subject=book.subject))
    wanted = [f"{{*}}{name}" for name in ("row", "col", "mergeCell", "hyperlink")]
    try:
        for _, element in etree.iterparse(data, tag=wanted, resolve_entities=False):
            if element.tag.endswith("}row"):
                row = _take_row(sheet, book, element, row + 1)
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
                if row >= rows:
                    break
            else:
                _take_other(sheet, element, refers)
    except etree.XMLSyntaxError as error:
        raise ParseError(f"damaged: {part} is not XML ({error})", subject=book.subject) from error
    tables = (name for kind, name in refers.values() if kind == "table" and name in book.archive.namelist())
    for root in (read_xml(book.archive, name, subject=book.subject) for name in tables):
        if area := area_of(root.get("ref") or ""):
            sheet.tables.append((area, _integer(root.get("headerRowCount"), 1)))
    return sheet


def _take_row(sheet: Worksheet, book: Workbook, element: Any, row: int) -> int:
    row, column = _integer(element.get("r"), row), 0
    if element.get("hidden") in _TRUE:
        sheet.hidden_rows.add(row)
    for one in element.iterchildren("{*}c"):
        row, column = place_at(one.get("r") or "") or (row, column + 1)
        text, is_number = shown_in(book, one)
        if text is None:
            sheet.unvalued += next(one.iterchildren("{*}f"), None) is not None
        elif text := " ".join(text.split()):
            sheet.cells[row, column] = SheetCell(text, (row, column), is_number)
    return row


def shown_in(book: Workbook, cell: Any) -> tuple[str | None, bool]:
    """Return what a cell shows, None where its value is not stored, and whether that is a number."""
    kind, value = cell.get("t") or "n", next((one.text for one in cell.iterchildren("{*}v")), None)
    if kind == "inlineStr":
        return "".join(map(_string, cell.iterchildren("{*}is"))), False
    if value is None:
        return None, False
    if kind == "s":
        place = _integer(value)
        return book.strings[place] if place < len(book.strings) else "", False
    if kind == "b":
        return ("TRUE" if value == "1" else "FALSE"), False
    if kind != "n" or not _NUMBER.fullmatch(value) or not math.isfinite(number := float(value)):
        return _unescaped(value), False
    style = _integer(cell.get("s"))
    code = book.codes[style] if style < len(book.codes) else "General"
    return show_number(number, code, since_1904=book.since_1904), not is_date_format(code)


def _take_other(sheet: Worksheet, element: Any, refers: dict[str, tuple[str, str]]) -> None:
    """Take up a hidden column, cells that are merged, or the link of a cell."""
    if element.tag.endswith("}col"):
        if element.get("hidden") in _TRUE:
            last = min(_integer(element.get("max")), _LAST_COLUMN)
            sheet.hidden_columns.update(range(_integer(element.get("min")), last + 1))
    elif area := area_of(element.get("ref") or ""):
        target = refers.get(_relation_of(element), ("", ""))[1]
        if element.tag.endswith("}mergeCell"):
            sheet.merged.append(area)
        elif target:
            sheet.links[area[:2]] = target


def _integer(text: str | None, default: int = 0) -> int:
    return int(text) if text is not None and text.isdecimal() and len(text) < _LONGEST else default


def _string(element: Any) -> str:
    """The text of a string, without that which says how its signs are read."""
    texts = (one for one in element.iter("{*}t") if not one.getparent().tag.endswith("}rPh"))
    return _unescaped("".join(one.text or "" for one in texts))


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda sign: bytes.fromhex(sign[1]).decode("utf-16-be", "replace"), text)


def place_at(reference: str) -> Place | None:
    """Return row and column of a reference (`$B$3`), None if it is none to a single cell."""
    found = _REF.fullmatch(reference)
    if found is None:
        return None
    column = 0
    for letter in found[1]:
        column = column * 26 + ord(letter) - 64
    return int(found[2]), column


def area_of(reference: str) -> Area | None:
    """Return the area of a reference (`A1:C3`), None if it is none to cells."""
    first, _, last = reference.partition(":")
    start, end = place_at(first), place_at(last or first)
    return (*start, *end) if start and end else None


def reference_to(sheet: str, place: Place) -> str:
    """Return the reference to a cell as links write it: `'My sheet'!B3`."""
    row, column = place
    letters = ""
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(65 + letter) + letters
    quoted = sheet.replace("'", "''")
    return f"{sheet}!{letters}{row}" if _PLAIN.fullmatch(sheet) else f"'{quoted}'!{letters}{row}"
