"""The checks of the olmOCR sample: texts that must occur or not, come in order, or stand in a table."""

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

Check = dict[str, Any]
Table = list[list[str]]

_SPACE = re.compile(r"\s+")
_SIGNS = str.maketrans("‘’‚‛“”„‟–—‑‒−_", "''''\"\"\"\"------")
_ENDS = 200
"""Code points of a page's beginning and end in which some texts are looked for."""

_LOST = 0.1
"""Share of the letters that may differ where a text must occur: scans carry text that was recognised."""

_LIKE = 0.9
"""Ratio from which two cells are the same."""


def load_checks(folder: Path) -> list[Check]:
    """All checks of the sample."""
    files = (folder / "dataset.jsonl", folder / "blanks.jsonl")
    return [json.loads(line) for file in files for line in file.read_text().splitlines() if line.strip()]


def plain(text: str) -> str:
    """A text as it is compared: one space, plain quotes and dashes."""
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", text).translate(_SIGNS)).strip()


def holds(check: Check, text: str, tables: Sequence[Table]) -> bool:
    """Whether a page with this text and these tables passes."""
    match check["type"]:
        case "present":
            return _occurs(check, text, _most_diffs(check, check["text"]))
        case "absent":
            return not _occurs(check, text, int(check.get("max_diffs", 0)))
        case "order":
            return _in_order(check, text)
        case "table":
            return any(_in_table(check, table) for table in tables)
        case "math":
            return _letters(check["math"]) in _letters(text)
        case "baseline":
            return len(text.strip()) <= int(check["max_length"])
    raise ValueError(f"unknown check {check['type']}")


def _letters(text: str) -> str:
    r"""Mathematics as letters and digits: \frac and braces go. Says little; printed only."""
    return re.sub(r"[\W_]", "", re.sub(r"\\[a-zA-Z]+", "", unicodedata.normalize("NFKC", text)))


def _most_diffs(check: Check, wanted: str) -> int:
    return max(int(check.get("max_diffs", 0)), int(len(wanted) * _LOST))


def _occurs(check: Check, text: str, most_diffs: int) -> bool:
    wanted, page = plain(check["text"]), plain(text)
    if not check.get("case_sensitive", True):
        wanted, page = wanted.lower(), page.lower()
    if check.get("first_n"):
        page = page[: int(check["first_n"])]
    if check.get("last_n"):
        page = page[-int(check["last_n"]) :]
    return next(_places(wanted, page, most_diffs), None) is not None


def _in_order(check: Check, text: str) -> bool:
    page = plain(text)
    before, after = (
        list(_places(plain(check[name]), page, _most_diffs(check, check[name])))
        for name in ("before", "after")
    )
    return any(one < other for other in after for one in before)


def _places(wanted: str, page: str, most_diffs: int) -> Iterator[int]:
    """Where *wanted* begins in *page*, give or take some letters."""
    at = page.find(wanted)
    while at >= 0:
        yield at
        at = page.find(wanted, at + 1)
    if most_diffs:
        # A text with few differences keeps one of its parts whole.
        size = len(wanted) // (most_diffs + 1)
        for part in range(most_diffs + 1):
            piece = wanted[part * size : (part + 1) * size]
            found = page.find(piece)
            while piece and found >= 0:
                start = max(found - part * size, 0)
                if _differences(wanted, page[start : start + len(wanted)]) <= most_diffs:
                    yield start
                found = page.find(piece, found + 1)


def _differences(one: str, other: str) -> int:
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return len(one) - sum(block.size for block in blocks)


def _in_table(check: Check, table: Table) -> bool:
    width = max(map(len, table), default=0)
    rows = [[plain(cell) for cell in row] + [""] * (width - len(row)) for row in table]
    wanted = check["cell"]
    return any(
        _is_like(wanted, cell) and _fits(check, rows, row, column)
        for row, cells in enumerate(rows)
        for column, cell in enumerate(cells)
    )


def _fits(check: Check, rows: Table, row: int, column: int) -> bool:
    def at(down: int, right: int) -> str:
        y, x = row + down, column + right
        return rows[y][x] if 0 <= y < len(rows) and 0 <= x < len(rows[y]) else ""

    beside = {"up": at(-1, 0), "down": at(1, 0), "left": at(0, -1), "right": at(0, 1)}
    if not all(_is_like(check[way], cell) for way, cell in beside.items() if check.get(way)):
        return False
    above, before = [rows[y][column] for y in range(row)], rows[row][:column]
    heads = {"top_heading": above, "left_heading": before}
    return all(
        any(_is_like(check[name], cell) for cell in cells) for name, cells in heads.items() if check.get(name)
    )


def _is_like(wanted: str, cell: str) -> bool:
    one, other = plain(wanted), plain(cell)
    return bool(other) and SequenceMatcher(None, one, other, autojunk=False).ratio() >= _LIKE
