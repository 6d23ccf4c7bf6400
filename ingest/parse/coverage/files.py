"""What a reader sees of markup and of files: their own text, read without the rules of their parser."""

import html
import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from lxml import etree

from ingest.parse.access import bare_tree
from ingest.parse.formats.epub import read_package
from ingest.parse.formats.sniffing import open_archive, read_member, read_xml
from ingest.parse.formats.workbook import open_workbook, shown_in
from ingest.parse.html.charset import decode_html
from ingest.parse.wording import RUN_ON, UNSHOWN
from schemas.errors import ParseError
from schemas.fragment import ParseRequest

_SHEET = """<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:output method="text"/>
<xsl:template match="*"><xsl:text> </xsl:text><xsl:apply-templates/><xsl:text> </xsl:text></xsl:template>
<xsl:template match="{run_on}"><xsl:apply-templates/></xsl:template>
<xsl:template match="{unshown}"><xsl:text> </xsl:text></xsl:template>
<xsl:template match="script[starts-with(@type, 'math/tex')]"><xsl:value-of select="."/></xsl:template>
</xsl:stylesheet>"""


def read_page(data: bytes, request: ParseRequest) -> str:
    """Return the text of the bytes of a page. Raises: ParseError: there is no element in it."""
    return read_markup(decode_html(data, request.content_type), subject=request.uri)


def read_markup(markup: str, *, subject: str) -> str:
    """Return the text of markup, with a space where no word can go on. Raises: ParseError: no element."""
    try:
        return str(_sheet()(bare_tree(markup)))
    except (etree.LxmlError, TypeError) as error:
        raise ParseError("no element found; is this HTML?", subject=subject) from error


@cache
def _sheet() -> etree.XSLT:
    written = _SHEET.format(run_on="|".join(sorted(RUN_ON)), unshown="|".join(sorted(UNSHOWN)))
    return etree.XSLT(etree.fromstring(written))


_FRONT = re.compile(r"\A\ufeff?---\s*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_CODE = re.compile(
    r"^([ \t>]*)(`{3,}|~{3,})[^\n]*\n(?P<block>.*?)(?:^[ \t>]*\2[`~]*[ \t]*$|\Z)"
    r"|(?P<ticks>`+)(?P<span>.+?)(?<!`)(?P=ticks)(?!`)",
    re.DOTALL | re.MULTILINE,
)
Marks = tuple[tuple[re.Pattern[str], str], ...]
"""Patterns of marks, each with what stands in its place, in the order in which they are taken out."""


def compile_marks(*marks: tuple[str, str]) -> Marks:
    """Compile marks, whose `^` and `$` are those of a line."""
    return tuple((re.compile(pattern, re.MULTILINE | re.DOTALL), instead) for pattern, instead in marks)


_MARKDOWN_MARKS = compile_marks(
    (r"<!--.*?-->", " "),
    (r"\{/\*.*?\*/\}|\{[%{<].*?[%}>]\}", " "),
    (r"^(?:import|export)\b[^\n]*$", ""),
    (r"<((?:https?|mailto|ftp):[^>\s]*)>", r"\1"),
    (rf"</?(?:{'|'.join(sorted(RUN_ON))})\b[^<>]*>", ""),
    (r"</?[A-Za-z][^<>]*>", " "),
    (r"^[ ]{0,3}\[[^\]^\n][^\]\n]*\]:[ \t]*\n?[ \t]*\S+[^\n]*$", ""),
    (r"!\[[^\]\n]*\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|\[[^\]\n]*\])?", ""),
    (r"\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|\[[^\]\n]*\])", "]"),
    (r"\[\^[^\]\n]*\]:?", ""),
    (r"[ \t]*\{[ \t]*[:#.][^}\n]*\}", ""),
    (r"^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t])?", ""),
    (r"(?<![\w\\])(_{1,3})(?=\S)([^\n]+?)(?<=\S)\1(?!\w)", r"\2"),
    (r"(?<!\\)(?:\*+|~~)(?=\S)|(?<=\S)(?:\*+|~~)", ""),
    (r"\\([!-/:-@\[-`{-~])", r"\1"),
)
_MAX_OUTPUT = 1_000
"""Signs of one output of a notebook that are read, and the lines of it; what is cut is said there."""
_MAX_OUTPUT_LINES = 20
_MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_SLIDES = re.compile(r"ppt/(?:slides/slide|notesSlides/notesSlide|diagrams/data)\d+\.xml")
_NOTES = ("word/footnotes.xml", "word/endnotes.xml")


def read_text(data: bytes, request: ParseRequest) -> str:
    """Return a text as it is."""
    return decode_html(data, request.content_type)


def markdown_words(data: bytes, request: ParseRequest) -> str:
    """Return the text of Markdown without front matter, marks and addresses."""
    return without_marks(_FRONT.sub("", read_text(data, request).replace("\r\n", "\n"), count=1))


def without_marks(text: str, code: re.Pattern[str] = _CODE, marks: Marks = _MARKDOWN_MARKS) -> str:
    """Return a text without *marks*, but for the `block` or `span` of *code*, which has none."""
    pieces, at = [], 0
    for found in code.finditer(text):
        pieces += [_said(text[at : found.start()], marks), found["block"] or found["span"] or ""]
        at = found.end()
    return "".join((*pieces, _said(text[at:], marks)))


def _said(text: str, marks: Marks) -> str:
    return html.unescape(unmarked(text, marks))


def unmarked(text: str, marks: Marks) -> str:
    """Return a text with what stands in the place of its marks."""
    for pattern, instead in marks:
        text = pattern.sub(instead, text)
    return text


def read_notebook(data: bytes, _request: ParseRequest) -> str:
    """Return the cells of a notebook, and what they printed. Raises: ParseError: it is none."""
    try:
        return "\n".join(_cells(json.loads(data.decode("utf-8-sig"))))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ParseError("no notebook", subject="") from error


def _cells(notebook: Any) -> Iterator[str]:
    for cell in notebook["cells"]:
        source = _joined(cell["source"])
        if cell["cell_type"] != "raw":
            yield without_marks(source) if cell["cell_type"] == "markdown" else source
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            pictured = any(kind.startswith("image/") for kind in data)
            told = _joined(output.get("text", "" if pictured else data.get("text/plain", "")))
            yield "\n".join(told.split("\n")[:_MAX_OUTPUT_LINES])[:_MAX_OUTPUT]
            yield output.get("ename", "") + "\n" + output.get("evalue", "")


def _joined(text: Any) -> str:
    return text if isinstance(text, str) else "".join(text)


def read_docx(data: bytes, request: ParseRequest) -> str:
    """Return the paragraphs and notes of a Word file. Raises: ParseError: it is none."""
    archive = open_archive(data, subject=request.uri)
    try:
        types = etree.fromstring(read_member(archive, "[Content_Types].xml", subject=request.uri))
        main = [one.get("PartName", "").strip("/") for one in types if one.get("ContentType") == _MAIN]
        names = [name for name in (*main, *_NOTES) if name in archive.namelist()]
        parser = etree.XMLParser(resolve_entities=False)
        parts = (etree.fromstring(read_member(archive, name, subject=request.uri), parser) for name in names)
        return "\n".join("".join(_paragraphs(part)) for part in parts)
    except etree.LxmlError as error:
        raise ParseError("damaged", subject=request.uri) from error


def _paragraphs(part: Any) -> Iterator[str]:
    """Text runs and those of formulas; a drawing may have its text twice, once for older programs."""
    walk = etree.iterwalk(part, events=("start",))
    for _, element in walk:
        name = etree.QName(element).localname
        if name == "Fallback":
            walk.skip_subtree()
        elif name == "t":
            yield element.text or ""
        elif name in {"p", "tab", "br", "cr"}:
            yield "\n"
        elif name == "noBreakHyphen":
            yield "-"


def read_pptx(data: bytes, request: ParseRequest) -> str:
    """Return the paragraphs of slides, notes and diagrams. Raises: ParseError: it is no presentation."""
    archive = open_archive(data, subject=request.uri)
    names = sorted(filter(_SLIDES.fullmatch, archive.namelist()), key=lambda name: (len(name), name))
    parts = (read_xml(archive, name, subject=request.uri) for name in names)
    return "\n".join("".join(_paragraphs(part)) for part in parts)


def read_xlsx(data: bytes, request: ParseRequest) -> str:
    """Return what the cells of each sheet show, and its name. Raises: ParseError: it is no workbook."""
    archive = open_archive(data, subject=request.uri)
    book = open_workbook(archive, subject=request.uri)
    sheets = ((name, read_xml(archive, part, subject=request.uri)) for name, part, _ in book.sheets)
    shown = (
        (name, [text for cell in root.iter("{*}c") if (text := shown_in(book, cell)[0])])
        for name, root in sheets
    )
    return "\n".join("\n".join((name, *texts)) for name, texts in shown if texts)


def read_epub(data: bytes, request: ParseRequest) -> str:
    """Return the text of the chapters of a book. Raises: ParseError: it is none."""
    archive = open_archive(data, subject=request.uri)
    chapters = read_package(archive, subject=request.uri).chapters
    texts = (decode_html(read_member(archive, one.path, subject=request.uri), None) for one in chapters)
    return "\n".join(read_markup(text, subject=request.uri) for text in texts)
