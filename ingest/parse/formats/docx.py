"""DOCX (ECMA-376): converted to HTML by mammoth, with a style map made of the styles of the file."""

import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any
from zipfile import ZipFile

from ingest.parse.formats.docx_parts import (
    CODE_STYLE,
    LABEL_END,
    LABEL_START,
    OUTLINE_STYLE,
    WORD,
    W,
    style_chain,
    value_of,
    written_out,
)
from ingest.parse.formats.opc import saved_at, text_of_xml
from ingest.parse.formats.sniffing import read_member, read_xml
from ingest.parse.wording import BOXES, COUNTED
from schemas.errors import ParseError
from schemas.formats import ParseTools
from schemas.fragment import GraphFragment, ParseRequest
from schemas.nodes import DateOrigin

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
    part = WORD.related_part(archive, "styles", subject=subject)
    if part not in archive.namelist():
        return _MAP
    root = read_xml(archive, part, subject=subject)
    styles = {style.get(f"{W}styleId"): style for style in root.iter(f"{W}style")}
    rules = [_MAP]
    for style in styles.values():
        name, level = value_of(style, "name") or "", _level(style, styles)
        if name and "\n" not in name and level < _BODY_TEXT:
            quoted = name.replace("\\", "\\\\").replace("'", "\\'")
            rules.append(f"p[style-name='{quoted}'] => h{min(level, 6)}:fresh")
    return "\n".join(rules)


def _level(style: Any, styles: dict[Any, Any]) -> int:
    """The outline level of a style, from 1, or of the nearest that it is based on."""
    for one in style_chain(styles, style):
        named = _HEADING.fullmatch((value_of(one, "name") or "").lower())
        outlined = value_of(one, f"pPr/{W}outlineLvl")
        if outlined is not None and outlined.isdecimal():
            return int(outlined) + 1
        if named:
            return int(named[1])
    return _BODY_TEXT


_NOTE = re.compile(r"(?:footnote|endnote)(?:-ref)?-\d+")
_ITEM = re.compile(rf"(<li)>{LABEL_START}([^{LABEL_END}]*){LABEL_END}")
_LABEL = re.compile(rf"{LABEL_START}([^{LABEL_END}]*){LABEL_END}")


def _parse(data: bytes, request: ParseRequest, tools: ParseTools) -> GraphFragment:
    from ingest.parse.html.dom import parse_tree
    from ingest.parse.html.whole import assemble_document, read_tree

    archive = WORD.open_package(data, subject=request.uri)
    data = written_out(archive, subject=request.uri)
    markup = _to_html(data, style_map(archive, subject=request.uri), request.uri)
    tree = parse_tree(markup, subject=request.uri)
    _write_boxes(tree)
    _place_notes(tree)
    body = read_tree(tree)
    return assemble_document(
        body.parts,
        body.links,
        request=request,
        kind=FORMAT.name,
        modified=saved_at(archive, DateOrigin.DOCX, subject=request.uri),
        count_tokens=tools.count_tokens,
    )


def _to_html(data: bytes, style_map: str, subject: str) -> str:
    import mammoth

    try:
        made = mammoth.convert_to_html(
            BytesIO(data),
            style_map=style_map,
            include_embedded_style_map=False,
            convert_image=mammoth.images.img_element(lambda _: {"src": ""}),
        )
    except MemoryError:
        raise
    except Exception as error:  # of XML, of the archive, of what mammoth expects to find in them
        raise ParseError(f"damaged: {type(error).__name__} ({error})", subject=subject) from error
    value = _LABEL.sub(r"\1 ", _ITEM.sub(rf'\1 {COUNTED}="\2">', made.value))
    return f"<html><body>{value}</body></html>"


def _write_boxes(root: Any) -> None:
    """Write check boxes as Markdown does, where the reader of pages would pass over controls."""
    for box in list(root.iter("input")):
        if box.get("type") == "checkbox":
            box.tag, box.text = "span", f"{BOXES['checked' in box.attrib]} "


def _place_notes(root: Any) -> None:
    """Put each note after the block that cites it; mammoth lists them at the end, under ids of its own."""
    marks = {link.get("href"): link for link in root.iter("a") if _NOTE.fullmatch(link.get("id") or "")}
    for note in [item for item in root.iter("li") if _NOTE.fullmatch(item.get("id") or "")]:
        mark = marks.get(f"#{note.get('id')}")
        if mark is None:
            continue
        for back in [link for link in note.iter("a") if link.get("href") == f"#{mark.get('id')}"]:
            back.drop_tree()
        block = next((one for one in mark.iterancestors() if one.getparent().tag == "body"), None)
        if block is not None:
            first = next(note.iter("p"), note)
            first.text = f"{mark.text_content()} {first.text or ''}"
            note.tag, note.tail = "div", None
            note.set("class", "note footnote")
            _after_notes(block).addnext(note)
        note.attrib.pop("id")
        mark.drop_tag()


def _after_notes(block: Any) -> Any:
    """The last of the notes that have been put after a block, or the block."""
    while block.getnext() is not None and block.getnext().get("class") == "note footnote":
        block = block.getnext()
    return block


def _top_texts(archive: ZipFile) -> Iterator[str]:
    text = text_of_xml(read_member(archive, WORD.main_part(archive, subject=""), subject=""))
    yield text.replace("\n", "\n\n")


FORMAT = WORD.format("docx", _parse, _top_texts, old_type="application/msword")
