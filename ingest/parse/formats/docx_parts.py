"""The parts of a DOCX file that mammoth passes over: formulas, code by its font, numbers of Word."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import Any
from zipfile import ZipFile, ZipInfo

from ingest.parse.formats.omml import tex_of
from ingest.parse.formats.opc import OfficeFiles, parsed_part
from ingest.parse.formats.sniffing import read_member
from ingest.parse.wording import item_number

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"

_LEVELS = 9
_STYLES = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}
_PLACE = re.compile(r"%([1-9])")


@dataclass(frozen=True, slots=True)
class _Level:
    """How paragraphs are counted on a level of a list; `counted` names what they are counted with."""

    counted: str
    start: int
    format: str
    text: str
    restarts: int | None
    is_legal: bool


class Numbers:
    """The counters of one document; its paragraphs are asked for in their order.

    `styles` gives the paragraph styles by id.
    """

    def __init__(self, numbering: Any, styles: Mapping[str, Any]) -> None:
        nums, lists = (
            () if numbering is None else numbering.findall(f"{W}{name}") for name in ("num", "abstractNum")
        )
        self._nums = {one.get(f"{W}numId"): one for one in nums}
        self._lists = {one.get(f"{W}abstractNumId"): one for one in lists}
        self._styles = styles
        self._counts: defaultdict[str, list[int | None]] = defaultdict(lambda: [None] * _LEVELS)
        self._begun: set[tuple[str, int]] = set()
        self._levels: dict[tuple[str, int], _Level | None] = {}

    def next_of(self, paragraph: Any) -> str:
        """Return the number of a paragraph as Word shows it: `4.2`, `(a)`; "" where it has none."""
        id_, place = self._named(paragraph)
        level = self._level(id_, place)
        if level is None:
            return ""
        counts = self._counts[level.counted]
        # A further list of the same kind begins anew where it says so at its first paragraph.
        if (id_, place) not in self._begun and self._override(id_, place, "startOverride") is not None:
            counts[place] = None
        self._begun.add((id_, place))
        now = counts[place]
        counts[place] = level.start if now is None else now + 1
        for deeper in range(place + 1, _LEVELS):
            below = self._level(id_, deeper)
            if below is None or below.restarts is None or place < below.restarts:
                counts[deeper] = None
        if level.format in {"bullet", "none"}:
            return ""
        return _PLACE.sub(lambda sign: self._shown(id_, int(sign[1]) - 1, counts, level), level.text).strip()

    def _shown(self, id_: str, place: int, counts: list[int | None], level: _Level) -> str:
        own = self._level(id_, place) or level
        now = counts[place]
        counts[place] = number = own.start if now is None else now
        return format_number(number, "decimal" if level.is_legal else own.format)

    def _named(self, paragraph: Any) -> tuple[str, int]:
        """The list of a paragraph and its level there: its own, else its style's."""
        style = value_of(paragraph.find(f"{W}pPr"), "pStyle") or ""
        chain = style_chain(self._styles, self._styles.get(style))
        stated = [one.find(f"{W}pPr/{W}numPr") for one in (paragraph, *chain)]
        id_, level = (
            next(filter(None, (value_of(one, name) for one in stated)), "") for name in ("numId", "ilvl")
        )
        if id_ in {"", "0"}:
            return "", 0
        if level.isdecimal():
            return id_, int(level)
        named = (one.get(f"{W}ilvl") for one in self._levels_of(id_) if value_of(one, "pStyle") == style)
        return id_, int(next(named, None) or 0)

    def _level(self, id_: str, place: int) -> _Level | None:
        if (id_, place) not in self._levels:
            self._levels[id_, place] = self._read_level(id_, place)
        return self._levels[id_, place]

    def _read_level(self, id_: str, place: int) -> _Level | None:
        list_, level = self._list(id_), self._override(id_, place, "lvl")
        if level is None:
            own = (one for one in self._levels_of(id_) if (one.get(f"{W}ilvl") or "0") == str(place))
            level = next(own, None)
        if list_ is None or level is None or place >= _LEVELS:
            return None
        anew = self._override(id_, place, "startOverride")
        start = (None if anew is None else anew.get(f"{W}val")) or value_of(level, "start") or ""
        restarts = value_of(level, "lvlRestart") or ""
        return _Level(
            counted=list_.get(f"{W}abstractNumId") or "",
            start=int(start) if start.isdecimal() else 0,
            format=value_of(level, "numFmt") or "decimal",
            text=value_of(level, "lvlText") or "",
            restarts=int(restarts) if restarts.isdecimal() else None,
            is_legal=level.find(f"{W}isLgl") is not None,
        )

    def _levels_of(self, id_: str) -> Sequence[Any]:
        list_ = self._list(id_)
        return () if list_ is None else list_.findall(f"{W}lvl")

    def _list(self, id_: str, depth: int = 0) -> Any:
        """The definition that a list leads to, through a style if need be."""
        found = self._lists.get(value_of(self._nums.get(id_), "abstractNumId") or "")
        style = self._styles.get(value_of(found, "numStyleLink") or "")
        behind = None if style is None else value_of(style.find(f"{W}pPr/{W}numPr"), "numId")
        return found if behind is None or depth > _LEVELS else self._list(behind, depth + 1)

    def _override(self, id_: str, place: int, name: str) -> Any:
        num = self._nums.get(id_)
        stated = () if num is None else num.findall(f"{W}lvlOverride")
        found = next((one for one in stated if one.get(f"{W}ilvl") == str(place)), None)
        return None if found is None else found.find(f"{W}{name}")


def format_number(number: int, format_: str) -> str:
    """Return a number in one of Word's formats; in digits in those of scripts that are not known here."""
    if format_ == "decimalZero":
        return f"{number:02}"
    return item_number(number, _STYLES.get(format_, "1")).removesuffix(".")


def value_of(element: Any, name: str) -> str | None:
    """The value of a child of an element, None where there is none."""
    found = None if element is None else element.find(f"{W}{name}")
    value: str | None = None if found is None else found.get(f"{W}val")
    return value


def style_chain(styles: Mapping[Any, Any], style: Any) -> Iterator[Any]:
    """Yield a style and those that it is based on, the nearest first."""
    seen: set[Any] = set()
    while style is not None and style not in seen:
        seen.add(style)
        yield style
        based_on = value_of(style, "basedOn")
        style = None if based_on is None else styles.get(based_on)


LABEL_START, LABEL_END = "\U000ffff0", "\U000ffff1"
"""Around the number that is put before a paragraph; no font has signs there."""

CODE_STYLE, OUTLINE_STYLE = "WrittenAsCode", "OutlinedAt"
"""Ids of styles that paragraphs get which are code by their font, or headings by their outline level."""

WORD = OfficeFiles(
    program="Word",
    suffixes=(".docx",),
    media_types=("application/vnd.openxmlformats-officedocument.wordprocessingml.document",),
    main="word/document.xml",
    root=b"document",
    marks=(b"word/",),
    kept=re.compile(r"\w+/(?:document|comments|footnotes|endnotes|header|footer)\w*\.xml|docProps/\w+\.xml"),
)
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_MONO = re.compile(
    r"\bmono(?:space|lisa|fur)?\b|\bcode\b|courier|consolas|menlo|monaco|inconsolata|lucida console"
    r"|typewriter|letter gothic|fixedsys|terminal|\bhack\b",
    re.IGNORECASE,
)
_HEADING = re.compile(r"heading|title|toc", re.IGNORECASE)
_MANUSCRIPT = 0.9
"""Share of paragraphs from which on a monospaced font is that of the text."""

_SHOWS = (f"{W}t", f"{W}tab", f"{W}br", f"{W}sym", f"{W}noBreakHyphen", f"{W}drawing", f"{W}pict")


def written_out(archive: ZipFile, *, subject: str) -> bytes:
    """Return the archive without its pictures, and with what mammoth passes over as text."""
    names = {kind: WORD.related_part(archive, kind, subject=subject) for kind in ("styles", "numbering")}
    roots = {
        kind: parsed_part(read_member(archive, name, subject=subject)) if name in archive.namelist() else None
        for kind, name in names.items()
    }
    writer = _Writer(roots["styles"], roots["numbering"])
    texts = {WORD.main_part(archive, subject=subject)}
    texts |= {WORD.related_part(archive, kind, subject=subject) for kind in ("footnotes", "endnotes")}
    buffer = BytesIO()
    with ZipFile(buffer, "w") as made:
        for name in archive.namelist():
            if not name.endswith((".xml", ".rels")):
                continue
            data = read_member(archive, name, subject=subject)
            # A bare name would be dated by the clock.
            made.writestr(ZipInfo(name), writer.rewritten(data) if name in texts else data)
    return buffer.getvalue()


@dataclass(frozen=True, slots=True)
class _Look:
    """What styles say of text: which fonts it has, `fonts` if none says so, and whether it is hidden."""

    styles: Mapping[str, Any]
    fonts: Any

    def of(self, properties: Any, name: str) -> Any:
        """A property of characters: from what states it itself, else from its styles; None if none does."""
        own = None if properties is None else properties.find(f"{W}{name}")
        return self.of_style(value_of(properties, "rStyle"), name) if own is None else own

    def of_style(self, style: str | None, name: str) -> Any:
        chain = style_chain(self.styles, self.styles.get(style or ""))
        found = (one.find(f"{W}rPr/{W}{name}") for one in chain)
        return next((own for own in found if own is not None), None)

    def is_text_mono(self) -> bool:
        """Whether the text of the document is in a monospaced font, which then says nothing."""
        return _is_mono(self.of_style("Normal", "rFonts")) or _is_mono(self.fonts)


def _is_mono(fonts: Any) -> bool:
    names = () if fonts is None else (fonts.get(f"{W}{name}") for name in ("ascii", "hAnsi"))
    return any(name is not None and _MONO.search(name) for name in names)


def _is_on(element: Any) -> bool:
    return element is not None and element.get(f"{W}val") not in {"0", "false", "off"}


class _Writer:
    def __init__(self, styles: Any, numbering: Any) -> None:
        found = () if styles is None else styles.iter(f"{W}style")
        by_id = {style.get(f"{W}styleId"): style for style in found}
        self._look = _Look(by_id, None if styles is None else styles.find(f"{W}docDefaults//{W}rFonts"))
        self._numbers = Numbers(numbering, by_id)

    def rewritten(self, xml: bytes) -> bytes:
        """Return a part with formulas, numbers and code as text, without hidden text."""
        from lxml import etree

        root = parsed_part(xml)
        if root is None:
            return xml
        for formula in list(root.iter(f"{_M}oMath")):
            _replace(formula, [_run_of(formula, tex_of(formula))])
        for display in list(root.iter(f"{_M}oMathPara")):
            _replace(display, display.findall(f"{W}r"))
        for run in root.iter(f"{W}r"):
            self._settle_run(run)
        paragraphs = list(root.iter(f"{W}p"))
        codes = [one for one in paragraphs if self._is_code(one)]
        if len(codes) <= _MANUSCRIPT * sum(1 for one in paragraphs if "".join(one.itertext()).strip()):
            for paragraph in codes:
                _set_style(paragraph, CODE_STYLE)
        for paragraph in paragraphs:
            self._settle_paragraph(paragraph)
        return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True))

    def _settle_run(self, run: Any) -> None:
        properties = run.find(f"{W}rPr")
        if _is_on(self._look.of(properties, "vanish")):
            for shown in [child for child in run if child.tag in _SHOWS]:
                run.remove(shown)
        for twice in run.iterfind(f"{W}rPr/{W}dstrike"):
            twice.tag = f"{W}strike"

    def _settle_paragraph(self, paragraph: Any) -> None:
        level = value_of(paragraph.find(f"{W}pPr"), "outlineLvl")
        has_text = bool(_text_of(paragraph).strip())
        if level in set("01234567") and has_text:
            _set_style(paragraph, f"{OUTLINE_STYLE}{level}")
        number = self._numbers.next_of(paragraph)
        if number and has_text:
            run = _run_of(paragraph, f"{LABEL_START}{number}{LABEL_END}")
            properties = paragraph.find(f"{W}pPr")
            paragraph.insert(0 if properties is None else 1, run)

    def _is_code(self, paragraph: Any) -> bool:
        """Whether all of a paragraph is in a monospaced font, and it is neither heading, item nor cell."""
        properties = paragraph.find(f"{W}pPr")
        style = value_of(properties, "pStyle")
        if _HEADING.match(style or "") or paragraph.find(f"{W}pPr/{W}numPr") is not None:
            return False
        cell = next(paragraph.iterancestors(f"{W}tc"), None)
        if cell is not None and len(list(islice(next(cell.iterancestors(f"{W}tbl")).iter(f"{W}tc"), 2))) > 1:
            return False
        runs = [run for run in paragraph.iter(f"{W}r") if _text_of(run).strip()]
        if not runs or self._look.is_text_mono():
            return False
        of_style = self._look.of_style(style, "rFonts")
        own = (self._look.of(run.find(f"{W}rPr"), "rFonts") for run in runs)
        return all(_is_mono(of_style if fonts is None else fonts) for fonts in own)


def _text_of(element: Any) -> str:
    return "".join(text.text or "" for text in element.iter(f"{W}t"))


def _run_of(beside: Any, text: str) -> Any:
    run = beside.makeelement(f"{W}r")
    written = run.makeelement(f"{W}t")
    written.text = text
    written.set(_SPACE, "preserve")
    run.append(written)
    return run


def _replace(element: Any, others: Iterable[Any]) -> None:
    around = element.getparent()
    for other in others:
        element.addprevious(other)
    around.remove(element)


def _set_style(paragraph: Any, name: str) -> None:
    _first_of(_first_of(paragraph, "pPr"), "pStyle").set(f"{W}val", name)


def _first_of(element: Any, name: str) -> Any:
    """A child of an element, made as its first where there is none."""
    found = element.find(f"{W}{name}")
    if found is None:
        found = element.makeelement(f"{W}{name}")
        element.insert(0, found)
    return found
