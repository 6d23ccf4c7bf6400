"""Styles of a DOCX file > lines of mammoth's style map: which of them are headings, and of which level."""

import re
from collections.abc import Iterator
from typing import Any
from zipfile import ZipFile

from ingest.parse.formats.archive import read_member
from ingest.parse.formats.docx_parts import CODE_STYLE, OUTLINE_STYLE, related_part
from schemas.errors import ParseError

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING = re.compile(r"heading ([1-9])")
_BODY_TEXT = 10
"""Outline level, from 1, of what is no heading (ECMA-376-1, 17.3.1.20: 9, from 0)."""

_MAP = f"""
p.{CODE_STYLE} => pre:separator('\\n')
{"".join(f"p.{OUTLINE_STYLE}{level} => h{min(level + 1, 6)}:fresh" + chr(10) for level in range(8))}
p[style-name='Title'] => h1:fresh
p[style-name='TOC Heading'] => !
p[style-name='toc heading'] => !
p[style-name='Contents Heading'] => !
p[style-name^='toc '] => !
p[style-name^='Contents '] => !
p[style-name='Code'] => pre:separator('\\n')
p[style-name='Code Block'] => pre:separator('\\n')
p[style-name='Source Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
p[style-name='Preformatted Text'] => pre:separator('\\n')
p[style-name='Quote'] => blockquote > p:fresh
p[style-name='Intense Quote'] => blockquote > p:fresh
p[style-name='Quotations'] => blockquote > p:fresh
"""
"""Styles that Word and LibreOffice bring, by their English names, which files keep whatever the language."""


def style_map(archive: ZipFile, *, subject: str) -> str:
    """Return mammoth's style map: `_MAP`, and each style that is a heading, also by what it is based on.

    Raises: ParseError: the styles are damaged.
    """
    part = related_part(archive, "styles", subject=subject)
    if part not in archive.namelist():
        return _MAP
    quoted = (
        (name.replace("\\", "\\\\").replace("'", "\\'"), level)
        for name, level in _headings(archive, part, subject)
    )
    return _MAP + "\n".join(f"p[style-name='{name}'] => h{min(level, 6)}:fresh" for name, level in quoted)


def _headings(archive: ZipFile, part: str, subject: str) -> Iterator[tuple[str, int]]:
    from lxml import etree

    try:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        root = etree.fromstring(read_member(archive, part, subject=subject), parser)
    except etree.XMLSyntaxError as error:
        raise ParseError(f"damaged: {part} is not XML ({error})", subject=subject) from error
    styles = {style.get(f"{_W}styleId"): style for style in root.iter(f"{_W}style")}
    for style in styles.values():
        name, level = _value(style, "name") or "", _level(style, styles)
        if name and "\n" not in name and level < _BODY_TEXT:
            yield name, level


def _level(style: Any, styles: dict[Any, Any]) -> int:
    """The outline level of a style, from 1, or of the nearest that it is based on."""
    seen: set[Any] = set()
    while style is not None and style not in seen:
        seen.add(style)
        named = _HEADING.fullmatch((_value(style, "name") or "").lower())
        outlined = _value(style, f"pPr/{_W}outlineLvl")
        if outlined is not None and outlined.isdecimal():
            return int(outlined) + 1
        if named:
            return int(named[1])
        style = styles.get(_value(style, "basedOn"))
    return _BODY_TEXT


def _value(style: Any, path: str) -> str | None:
    found = style.find(f"{_W}{path}")
    value: str | None = None if found is None else found.get(f"{_W}val")
    return value
