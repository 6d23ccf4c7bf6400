"""The parts of a DOCX file, with what mammoth passes over as text: formulas, numbers, code by its font."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from posixpath import dirname, join, normpath
from typing import Any
from zipfile import ZipFile, ZipInfo

from ingest.parse.formats.archive import read_member
from ingest.parse.formats.docx_numbers import Numbers, W, value_of
from ingest.parse.formats.omml import tex_of

LABEL_START, LABEL_END = "\U000ffff0", "\U000ffff1"
"""Around the number that is put before a paragraph; no font has signs there."""

CODE_STYLE, OUTLINE_STYLE = "WrittenAsCode", "OutlinedAt"
"""Ids of styles that paragraphs get which are code by their font, or headings by their outline level."""

_MAIN = "word/document.xml"
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


def main_part(archive: ZipFile, *, subject: str) -> str:
    """Return the name of the part with the text, as the package states it: `document2.xml` of Word Online."""
    return next(_related(archive, "", "officeDocument", subject), _MAIN)


def related_part(archive: ZipFile, kind: str, *, subject: str) -> str:
    """Return the name of the part of the main one that is of a *kind* (`styles`)."""
    main = main_part(archive, subject=subject)
    return next(_related(archive, main, kind, subject), f"{dirname(main)}/{kind}.xml")


def _related(archive: ZipFile, part: str, kind: str, subject: str) -> Iterator[str]:
    folder, _, name = part.rpartition("/")
    rels = f"{folder}/_rels/{name}.rels".lstrip("/")
    root = _parsed(read_member(archive, rels, subject=subject)) if rels in archive.namelist() else None
    for one in () if root is None else root:
        if (one.get("Type") or "").endswith(f"/{kind}") and one.get("TargetMode") != "External":
            target = one.get("Target") or ""
            name = target.lstrip("/") if target.startswith("/") else normpath(join(folder, target))
            if name in archive.namelist():
                yield name


def written_out(archive: ZipFile, *, subject: str) -> bytes:
    """Return the archive without its pictures, and with what mammoth passes over as text."""
    names = {kind: related_part(archive, kind, subject=subject) for kind in ("styles", "numbering")}
    roots = {
        kind: _parsed(read_member(archive, name, subject=subject)) if name in archive.namelist() else None
        for kind, name in names.items()
    }
    writer = _Writer(roots["styles"], roots["numbering"])
    texts = {main_part(archive, subject=subject)}
    texts |= {related_part(archive, kind, subject=subject) for kind in ("footnotes", "endnotes")}
    buffer = BytesIO()
    with ZipFile(buffer, "w") as made:
        for name in archive.namelist():
            if not name.endswith((".xml", ".rels")):
                continue
            data = read_member(archive, name, subject=subject)
            # A bare name would be dated by the clock.
            made.writestr(ZipInfo(name), writer.rewritten(data) if name in texts else data)
    return buffer.getvalue()


def _parsed(xml: bytes) -> Any:
    """The root of a part; None where it is damaged, of which mammoth says what it misses."""
    from lxml import etree

    try:
        return etree.fromstring(xml, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
    except etree.XMLSyntaxError:
        return None


@dataclass(frozen=True, slots=True)
class _Look:
    """What styles say of text: which fonts it has, and whether it is hidden."""

    styles: Mapping[str, Any]
    defaults: Any

    def of(self, properties: Any, name: str) -> Any:
        """A property of characters: from what states it itself, else from its styles; None if none does."""
        if properties is None:
            return None
        own = properties.find(f"{W}{name}")
        found = properties.find(f"{W}rStyle")
        return (
            own if own is not None else self.of_style(None if found is None else found.get(f"{W}val"), name)
        )

    def of_style(self, style: str | None, name: str) -> Any:
        seen = set[str]()
        while style is not None and style not in seen and style in self.styles:
            seen.add(style)
            element = self.styles[style]
            own = element.find(f"{W}rPr/{W}{name}")
            if own is not None:
                return own
            style = value_of(element, "basedOn")
        return None

    def is_text_mono(self) -> bool:
        """Whether the text of the document is in a monospaced font, which then says nothing."""
        return _is_mono(self.of_style("Normal", "rFonts")) or _is_mono(
            None if self.defaults is None else self.defaults.find(f".//{W}rFonts")
        )


def _is_mono(fonts: Any) -> bool:
    names = () if fonts is None else (fonts.get(f"{W}{name}") for name in ("ascii", "hAnsi"))
    return any(name is not None and _MONO.search(name) for name in names)


def _is_on(element: Any) -> bool:
    return element is not None and element.get(f"{W}val") not in {"0", "false", "off"}


class _Writer:
    def __init__(self, styles: Any, numbering: Any) -> None:
        found = () if styles is None else styles.iter(f"{W}style")
        by_id = {style.get(f"{W}styleId"): style for style in found}
        self._look = _Look(by_id, None if styles is None else styles.find(f"{W}docDefaults"))
        self._numbers = Numbers(numbering, by_id)

    def rewritten(self, xml: bytes) -> bytes:
        """Return a part with formulas, numbers and code as text, without hidden text."""
        from lxml import etree

        root = _parsed(xml)
        if root is None:
            return xml
        for formula in list(root.iter(f"{_M}oMath")):
            _write_formula(formula)
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
        twice = None if properties is None else properties.find(f"{W}dstrike")
        if twice is not None:
            twice.tag = f"{W}strike"

    def _settle_paragraph(self, paragraph: Any) -> None:
        level = value_of(paragraph.find(f"{W}pPr"), "outlineLvl")
        if level is not None and level in set("01234567") and _text_of(paragraph).strip():
            _set_style(paragraph, f"{OUTLINE_STYLE}{level}")
        number = self._numbers.next_of(paragraph)
        if number and _text_of(paragraph).strip():
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
        return all(self._is_mono(run, of_style) for run in runs)

    def _is_mono(self, run: Any, of_paragraph: Any) -> bool:
        own = self._look.of(run.find(f"{W}rPr"), "rFonts")
        return _is_mono(of_paragraph if own is None else own)


def _text_of(element: Any) -> str:
    return "".join(text.text or "" for text in element.iter(f"{W}t"))


def _run_of(beside: Any, text: str) -> Any:
    run = beside.makeelement(f"{W}r")
    written = run.makeelement(f"{W}t")
    written.text = text
    written.set(_SPACE, "preserve")
    run.append(written)
    return run


def _write_formula(formula: Any) -> None:
    _replace(formula, (_run_of(formula, tex_of(formula)),))


def _replace(element: Any, others: Iterable[Any]) -> None:
    around = element.getparent()
    for other in others:
        element.addprevious(other)
    around.remove(element)


def _set_style(paragraph: Any, name: str) -> None:
    properties = paragraph.find(f"{W}pPr")
    if properties is None:
        properties = paragraph.makeelement(f"{W}pPr")
        paragraph.insert(0, properties)
    style = properties.find(f"{W}pStyle")
    if style is None:
        style = properties.makeelement(f"{W}pStyle")
        properties.insert(0, style)
    style.set(f"{W}val", name)
