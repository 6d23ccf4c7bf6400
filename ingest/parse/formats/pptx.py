"""PPTX (ECMA-376): each slide is a section, written as HTML in the order in which it is read."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from io import BytesIO
from typing import Any
from zipfile import ZipFile

from ingest.parse.formats.omml import tex_of
from ingest.parse.formats.opc import OfficeFiles, parsed_part, relations, saved_at, text_of_xml
from ingest.parse.formats.sniffing import read_member, read_xml
from schemas.errors import ParseError
from schemas.formats import ParseTools
from schemas.fragment import GraphFragment, ParseRequest
from schemas.nodes import DateOrigin

_OFFICE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
POWERPOINT = OfficeFiles(
    program="PowerPoint",
    suffixes=(".pptx", ".pptm"),
    media_types=(_OFFICE, "application/vnd.ms-powerpoint.presentation.macroenabled.12"),
    main="ppt/presentation.xml",
    root=b"presentation",
    marks=(b"ppt/",),
    kept=re.compile(r"ppt/(?!theme|slideMasters|slideLayouts)\w+/[\w-]+\.xml|docProps/\w+\.xml"),
)

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"

_OVER = frozenset({"title", "secHead"})
"""Layouts of slides that stand over those behind them: of a title, of a part (ECMA-376-1, 19.7.15)."""

_TITLES = frozenset({"ctrTitle", "subTitle"})
"""Placeholders that slides of a title have (19.7.10)."""

_RUNNING = frozenset({"dt", "ftr", "hdr", "sldNum"})
"""Those of what every slide repeats."""

_SHOWN = frozenset({"node", "asst"})
"""Points of a diagram that are boxes with text (21.4.7.51)."""

_OF_BODY = frozenset({"body", "obj", "subTitle"})
_HIDDEN, _REPEATED = "hidden slides", "what slides repeat: number, date, footer"
_TRUE, _FALSE = frozenset({"1", "true"}), frozenset({"0", "false"})
_BULLETS = frozenset(f"{A}{name}" for name in ("buNone", "buAutoNum", "buChar", "buBlip"))
_STYLES = {"alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}
_DEEPEST = 30
"""Cuts between shapes, one inside the other, before they stay as the file has them."""

Box = tuple[int, int, int, int]
"""Left, top, right, bottom, in EMU."""


def reading_order(boxes: Sequence[Box | None]) -> list[int]:
    """Return the places of shapes in the order in which they are read.

    They are cut at the widest strips in which none of them stands, and what is above, or left, comes first.
    Those between which there is none stay in the order of the file, as all do if one has no box.
    """
    places = list(range(len(boxes)))
    known = [box for box in boxes if box is not None]
    return list(_cut(places, known, 0)) if len(known) == len(boxes) else places


def _cut(places: list[int], boxes: Sequence[Box], depth: int) -> Iterator[int]:
    gaps = [(width, axis, at) for axis in (0, 1) for width, at in _gaps([boxes[one] for one in places], axis)]
    if not gaps or depth > _DEEPEST:
        yield from places
        return
    widest, axis, _ = max(gaps)
    cuts = [at for width, of, at in gaps if (width, of) == (widest, axis)]
    for number in range(len(cuts) + 1):
        yield from _cut(
            [one for one in places if bisect_right(cuts, boxes[one][axis]) == number], boxes, depth + 1
        )


def _gaps(boxes: Sequence[Box], axis: int) -> Iterator[tuple[int, int]]:
    """How wide each strip between boxes is, and where it ends, in order; 0: from left to right."""
    end: int | None = None
    for box in sorted(boxes, key=lambda box: box[axis]):
        if end is not None and box[axis] >= end:
            yield box[axis] - end, box[axis]
        end = box[axis + 2] if end is None else max(end, box[axis + 2])


@dataclass(slots=True)
class _Deck:
    """Writes slides; `left_out` are texts with the reason why they are not written.

    `title` is that of the first slide that has one; `empty` counts slides without text.
    """

    left_out: list[tuple[str, str]] = field(default_factory=list)
    title: str = ""
    empty: int = 0

    def written(self, slides: Iterable[Any]) -> Iterator[str]:
        """Yield the markup of each slide that is shown; its number opens it, as links to slides have it."""
        for number, slide in enumerate(slides, 1):
            if slide.element.get("show") in _FALSE:
                notes = [slide.notes_slide.element] if slide.has_notes_slide else []
                self.left_out.append((_HIDDEN, "\n".join(map(_text_in, (slide.element, *notes)))))
            else:
                _choose(slide.element)
                yield self._slide(slide, number)

    def warnings(self) -> Iterator[str]:
        """Say how many slides are hidden, and how many have no text."""
        if hidden := sum(reason == _HIDDEN for reason, _ in self.left_out):
            yield f"left out as hidden: slides {hidden}"
        if self.empty:
            yield f"slides without text: {self.empty}"

    def _slide(self, slide: Any, number: int) -> str:
        title, level = slide.shapes.title, 1 if _stands_over(slide) else 2
        name = "" if title is None else _text_in(title.element)
        self.title = self.title or " ".join(name.split())
        others = [shape for shape in slide.shapes if title is None or shape.element is not title.element]
        head = " ".join(_inline(one, slide.part) for one in title.element.iter(f"{A}p")) if name else ""
        own = self._shapes(others, slide)
        own += self._notes(slide.notes_slide, level) if slide.has_notes_slide else ""
        if not head and not own:
            self.empty += 1
            return ""
        return _heading(head or f"Slide {number}", level, f' id="{number}"') + own

    def _notes(self, notes: Any, level: int) -> str:
        body = notes.notes_placeholder
        for shape in notes.placeholders:
            if body is None or shape.element is not body.element:
                self.left_out.append((_REPEATED, _text_in(shape.element)))
        text = "" if body is None else _body(body.element, notes.part, ())
        return text and _heading("Notes", level + 1) + text

    def _shapes(self, shapes: Iterable[Any], slide: Any) -> str:
        written = [(_box(shape), text) for shape in shapes if (text := self._shape(shape, slide))]
        return "".join(written[at][1] for at in reading_order([box for box, _ in written]))

    def _shape(self, shape: Any, slide: Any) -> str:
        element = shape.element
        kind = element.ph.get("type") or "obj" if shape.is_placeholder else None
        if kind in _RUNNING or next(element.iter("{*}cNvPr")).get("hidden") in _TRUE:
            self.left_out.append((_REPEATED if kind in _RUNNING else "hidden shapes", _text_in(element)))
            return ""
        if element.tag.endswith("}grpSp"):
            return self._shapes(shape.shapes, slide)
        diagram = next(element.iter(f"{_DIAGRAM}relIds"), None)
        if diagram is not None:
            return _diagram(parsed_part(slide.part.related_part(diagram.get(f"{_R}dm")).blob))
        if shape.has_table:
            return _table(element, slide.part) if _text_in(element) else ""
        return _body(element, slide.part, _styles(shape, kind, slide)) if shape.has_text_frame else ""


def _stands_over(slide: Any) -> bool:
    """Whether those behind it are below it: it is of such a layout, or has a title in the middle or two."""
    kinds = {one.element.ph.get("type") for one in slide.placeholders}
    return slide.slide_layout.element.get("type") in _OVER or not kinds.isdisjoint(_TITLES)


def _choose(element: Any) -> None:
    """Put what newer programs show in the place of what there is for them and for older ones; ink goes."""
    for either in list(element.iter(f"{_MC}AlternateContent")):
        for chosen in [child for first in either[:1] for child in first]:
            either.addprevious(chosen)
        either.getparent().remove(either)
    for ink in list(element.iter("{*}contentPart")):  # python-pptx has no class for it
        ink.getparent().remove(ink)


def _text_in(element: Any) -> str:
    """Paragraphs, one a line."""
    lines = (
        "".join(" " if one.tag == f"{A}br" else one.text or "" for one in p.iter(f"{A}t", f"{A}br"))
        for p in element.iter(f"{A}p")
    )
    return "\n".join(lines).strip()


def _heading(markup: str, level: int, more: str = "") -> str:
    return f"<h{level}{more}>{markup}</h{level}>"


def _box(shape: Any) -> Box | None:
    left, top, width, height = shape.left, shape.top, shape.width, shape.height
    return None if None in {left, top, width, height} else (left, top, left + width, top + height)


def _styles(shape: Any, kind: str | None, slide: Any) -> tuple[Any, ...]:
    """What says which paragraphs are items, the nearest first: the shape, its placeholder, the master."""
    layout = slide.slide_layout
    like = layout.placeholders.get(shape.placeholder_format.idx) if kind else None
    lists = [next(one.element.iter(f"{A}lstStyle"), None) for one in (shape, like) if one is not None]
    of_master = layout.slide_master.element.find(".//{*}bodyStyle") if kind in _OF_BODY else None
    return tuple(one for one in (*lists, of_master) if one is not None)


def _body(element: Any, part: Any, styles: Sequence[Any]) -> str:
    """The paragraphs of a text, items in lists."""
    written, lists = "", list[str]()
    for paragraph in element.iter(f"{A}p"):
        text, properties = _inline(paragraph, part), paragraph.find(f"{A}pPr")
        if not text.strip():
            continue
        level = int((None if properties is None else properties.get("lvl")) or 0)
        bullet = _bullet(properties, level, styles)
        list_ = _list(bullet)
        depth = 0 if bullet is None else min(level, len(lists)) + 1
        while len(lists) > depth or (len(lists) == depth > 0 and lists[-1] != list_):
            written += f"</li></{lists.pop()[:2]}>"
        if len(lists) < depth:
            lists.append(list_)
            written += f"<{list_}>"
        elif depth:
            written += "</li>"
        written += f"<li>{text}" if depth else f"<p>{text}</p>"
    return written + "".join(f"</li></{list_[:2]}>" for list_ in reversed(lists))


def _bullet(properties: Any, level: int, styles: Sequence[Any]) -> Any:
    """What stands before a paragraph; None where nothing does."""
    of_level = (style.find(f"{A}lvl{level + 1}pPr") for style in styles)
    stated = (
        child for one in (properties, *of_level) if one is not None for child in one if child.tag in _BULLETS
    )
    found = next(stated, None)
    return None if found is None or found.tag == f"{A}buNone" else found


def _list(bullet: Any) -> str:
    """The list that an item with such a bullet is of, as its tag begins."""
    if bullet is None or bullet.tag != f"{A}buAutoNum":
        return "ul"
    kind = next((one for name, one in _STYLES.items() if (bullet.get("type") or "").startswith(name)), "1")
    return f'ol type="{kind}" start="{int(bullet.get("startAt") or 1)}"'


def _inline(paragraph: Any, part: Any) -> str:
    """The runs of a paragraph, and its formulas as TeX."""
    written = ""
    for child in paragraph:
        if child.tag in {f"{A}r", f"{A}fld"}:
            written += _run(child, part)
        elif child.tag == f"{A}br":
            written += "<br>"
        else:
            written += escape(" ".join(tex_of(one) for one in child.iter(f"{_M}oMath")))
    return written


def _run(run: Any, part: Any) -> str:
    text, look = escape(run.findtext(f"{A}t") or ""), run.find(f"{A}rPr")
    if look is None or not text:
        return text
    raised = look.get("baseline") or ""  # in thousandths, or with a sign for percent
    if raised.strip("0%"):
        text = f"<sub>{text}</sub>" if raised.startswith("-") else f"<sup>{text}</sup>"
    if look.get("strike") in {"sngStrike", "dblStrike"}:
        text = f"<s>{text}</s>"
    link = look.find(f"{A}hlinkClick")
    relation = part.rels.get(link.get(f"{_R}id")) if link is not None else None
    if relation is None or not relation.is_external:
        return text
    return f'<a href="{escape(relation.target_ref)}">{text}</a>'


def _table(table: Any, part: Any) -> str:
    """A table, in whose first row are the names of its columns if it is set apart."""
    properties = next(table.iter(f"{A}tblPr"), None)
    is_headed = properties is not None and properties.get("firstRow") in _TRUE
    rows = []
    for number, row in enumerate(table.iter(f"{A}tr")):
        name = "th" if is_headed and not number else "td"
        rows.append("".join(_cell(cell, name, part) for cell in row.iterchildren(f"{A}tc")))
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def _cell(cell: Any, name: str, part: Any) -> str:
    if cell.get("hMerge") in _TRUE or cell.get("vMerge") in _TRUE:
        return ""
    text = "<br>".join(_inline(one, part) for one in cell.iter(f"{A}p"))
    columns, rows = (int(cell.get(one) or 1) for one in ("gridSpan", "rowSpan"))
    return f'<{name} colspan="{columns}" rowspan="{rows}">{text}</{name}>'


def _diagram(data: Any) -> str:
    """What the shapes of a diagram say (SmartArt), in the order of its data."""
    points = () if data is None else data.iter(f"{_DIAGRAM}pt")
    texts = [_text_in(one) for one in points if (one.get("type") or "node") in _SHOWN]
    items = "".join(f"<li>{escape(text)}</li>" for text in texts if text)
    return items and f"<ul>{items}</ul>"


def _parse(data: bytes, request: ParseRequest, tools: ParseTools) -> GraphFragment:
    from ingest.parse.html.dom import parse_tree
    from ingest.parse.html.whole import assemble_document, read_tree
    from ingest.parse.page_graph import file_name

    archive = POWERPOINT.open_package(data, subject=request.uri)
    deck = _Deck()
    markup = f"<html><body>{_to_html(data, deck, request.uri)}</body></html>"
    body = read_tree(parse_tree(markup, subject=request.uri))
    tools.left_out.add(deck.left_out)
    return assemble_document(
        body.parts,
        body.links,
        request=request,
        kind=FORMAT.name,
        title=deck.title or file_name(request),
        modified=saved_at(archive, DateOrigin.PPTX, subject=request.uri),
        warnings=tuple(deck.warnings()),
        count_tokens=tools.count_tokens,
    )


def _to_html(data: bytes, deck: _Deck, subject: str) -> str:
    import pptx

    try:
        return "".join(deck.written(pptx.Presentation(BytesIO(data)).slides))
    except MemoryError:
        raise
    except Exception as error:  # of XML, and of what python-pptx expects to find in a package
        raise ParseError(f"damaged: {type(error).__name__} ({error})", subject=subject) from error


def _first_texts(archive: ZipFile) -> Iterator[str]:
    """The text of each slide, in the order of the presentation, up to the first that is shown."""
    main = POWERPOINT.main_part(archive, subject="")
    parts = relations(archive, main, subject="")
    for one in read_xml(archive, main, subject="").iterfind("{*}sldIdLst/{*}sldId"):
        slide = read_member(archive, parts.get(one.get(f"{_R}id"), ("", ""))[1], subject="")
        yield text_of_xml(slide).replace("\n", "\n\n")
        root = parsed_part(slide)
        if root is None or root.get("show") not in _FALSE:
            return


FORMAT = POWERPOINT.format("pptx", _parse, _first_texts, old_type="application/vnd.ms-powerpoint")
