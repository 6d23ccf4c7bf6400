"""Values of form fields, put beside their labels; files store them behind all text of a page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ingest.parse.pdf.boxes import to_box
from ingest.parse.pdf.lines import Block, Line
from schemas.geometry import BBox

_BUTTON, _CHECK, _RADIO, _SIGNATURE = 1, 2, 5, 6
_PASSWORD = 1 << 13
_HIDDEN = 1
"""Kinds, a flag and a display of fields, by the numbers that pymupdf gives them."""

_TICKED = {True: "(ticked)", False: "(not ticked)"}
_NEAR, _FAR = 30.0, 60.0
_ABOVE = 1.5
"""Points between a box to tick and its label on the right, and from where a label on the left is less likely
than one above; heights of a label from it to a field below."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form: where it is, what it says, and whether it is a box to tick."""

    bbox: BBox
    value: str
    ticks: bool = False


def read_fields(document: Any, page: Any) -> tuple[Field, ...]:
    """Return the fields of an unrotated page that say something; buttons and passwords do not."""
    if not document.is_form_pdf:
        return ()
    return tuple(_fields(document, page))


def _fields(document: Any, page: Any) -> Iterator[Field]:
    for widget in page.widgets():
        kind, box = widget.field_type, to_box(widget.rect)
        if widget.field_display == _HIDDEN or kind in (_BUTTON, _SIGNATURE):
            continue
        if kind in (_CHECK, _RADIO):
            yield Field(box, _TICKED[_is_ticked(document, widget)], ticks=True)
            continue
        value = widget.field_value or ""
        said = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        yield Field(box, "" if widget.field_flags & _PASSWORD else " ".join(said.split()))


def _is_ticked(document: Any, widget: Any) -> bool:
    kind, state = document.xref_get_key(widget.xref, "AS")
    value = state.lstrip("/") if kind == "name" else str(widget.field_value or "Off")
    return value not in {"Off", "False", ""}


def without_fields(blocks: Sequence[dict[str, Any]], fields: Sequence[Field]) -> None:
    """Take the texts that fields are drawn with out of the lines of `get_text("dict")`."""
    for block in blocks:
        block["lines"] = [
            line
            for line in block.get("lines", ())
            if not any(field.bbox.holds_middle_of(to_box(line["bbox"])) for field in fields)
        ]


def words_of_fields(words: Sequence[Any], fields: Sequence[Field]) -> list[Any]:
    """Have the words of a page, for its tables, say of boxes whether they are ticked."""
    boxes = [field for field in fields if field.ticks]
    kept = [word for word in words if not any(box.bbox.holds_middle_of(to_box(word[:4])) for box in boxes)]
    added = [
        (box.bbox.x0, box.bbox.y0, box.bbox.x1, box.bbox.y1, word, -1, at, number)
        for at, box in enumerate(boxes)
        for number, word in enumerate(box.value.split())
    ]
    return [*kept, *added]


def fill_in(blocks: Sequence[Block], fields: Sequence[Field]) -> tuple[Block, ...]:
    """Put each value behind its label: on its left, above it, or, of a box to tick, on its right."""
    found = [list(block) for block in blocks]
    for field in sorted(fields, key=lambda field: (field.bbox.y0, field.bbox.x0)):
        if not field.value:
            continue
        place = _label(blocks, field)
        if place is None:
            height = field.bbox.y1 - field.bbox.y0
            found.append([Line(text=field.value, bbox=field.bbox, size=round(min(height, 10.0), 1))])
            continue
        block, at, is_behind = place
        line = found[block][at]
        text = f"{field.value} {line.text}" if is_behind else f"{line.text.rstrip()} {field.value}"
        found[block][at] = replace(line, text=text, bbox=line.bbox.union(field.bbox), bold=False)
    return tuple(map(tuple, found))


def _label(blocks: Sequence[Sequence[Line]], field: Field) -> tuple[int, int, bool] | None:
    """Where the nearest label is, and whether it stands behind the field."""
    box = field.bbox
    found: list[tuple[float, int, int, bool]] = []
    for number, block in enumerate(blocks):
        for at, line in enumerate(block):
            middle, height = (line.bbox.y0 + line.bbox.y1) / 2, line.bbox.y1 - line.bbox.y0
            if box.y0 - 1 <= middle <= min(box.y1, box.y0 + 2 * height) + 1:
                if field.ticks and -1 <= line.bbox.x0 - box.x1 <= _NEAR:
                    found.append((line.bbox.x0 - box.x1, number, at, True))
                elif line.bbox.x0 < box.x0:
                    found.append((max(box.x0 - line.bbox.x1, 0.0), number, at, False))
            elif (
                0 <= box.y0 - line.bbox.y1 <= _ABOVE * height
                and line.bbox.x0 < box.x1
                and box.x0 < line.bbox.x1
            ):
                found.append((_FAR + box.y0 - line.bbox.y1, number, at, False))
    return min(found)[1:] if found else None
