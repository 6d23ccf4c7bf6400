"""Info files of GNU manuals: made into HTML by their signs and indentation, which is all that they keep.

Source: GNU Texinfo, "Info Format Specification" and "HTML Xref Node Name Expansion".
"""

import re
from collections.abc import Iterator
from html import escape, unescape

from ingest.parse.formats.sniffing import unpack_text
from ingest.parse.secrets import find_in_source
from schemas.formats import DocumentFormat, ParseTools, SizeClass
from schemas.fragment import GraphFragment, ParseRequest

MAX_NESTING = 10
"""Lists in lists; what is indented deeper is shown as it is written."""

_SUFFIXES = (".info", *(f".info-{number}" for number in range(1, 40)))
_START = re.compile(rb"This is [^\n]{1,200}, produced by\s|\x1f\s*File: [^\n]{1,200}Node: ")
_NODE = re.compile(r"\s*File: [^\n]*?Node: ([^\n]*?)(?:,\s+(?:Next|Prev|Up): [^\n]*)?\n")
_INDEX, _PICTURE = "\b[index", re.compile("\b\\[image[^]]*\b\\]")
_HEADING = re.compile(r"(?:[ \t\r\f\v]*\n)*([^\n]+)\n(\*{3,}|={3,}|-{3,}|\.{3,})\n")
_LEVELS = "*=-."
_MENU = re.compile(r"\* ([^:\n]{1,200})(?:::|:[ \t]+([^.,\n]{1,200})[.,](?=\s|$))")
_NOTE = re.compile(
    r"\*([Nn])ote\s+([^:]{1,200}?):(?::|\s+((?:\([^)\n]*\))?[^.,:]{1,200})(?=[.,]))", re.DOTALL
)
_PARTS = re.compile(r"\s*Indirect:\n((?:[^\n]+: \d+\n?)+)")
_ITEM = re.compile(r"( {0,3})(?:([•*+-])|(\d{1,3})\.) +(\S.*)$")
_DEFINED = re.compile(r" -- (.*)$")


def _recognise(head: bytes, _content_type: str, name: str) -> bool:
    if not name.removesuffix(".gz").endswith(_SUFFIXES):
        return False
    text = unpack_text(head, max_bytes=len(head) * 50, is_whole=False, subject="")
    return _START.search(text) is not None


def _parse(data: bytes, request: ParseRequest, tools: ParseTools) -> GraphFragment:
    from ingest.parse.html.charset import decode_html
    from ingest.parse.html.whole import assemble_markup, say_missing

    text = decode_html(unpack_text(data, subject=request.uri), request.content_type)
    pieces = text.replace("\r\n", "\n").replace("\0", "").split("\x1f")
    parts = [found for piece in pieces if (found := _PARTS.match(piece))]
    named = [line.partition(":")[0] for found in parts for line in found[1].splitlines()]
    markup = "".join(map(_node, pieces)) or f"<p>{escape(pieces[0])}</p>"
    return assemble_markup(markup, request, tools, kind=FORMAT.name, warnings=say_missing(named))


def _node(piece: str) -> str:
    """Return a node as HTML; none for indexes, and for what only programs read."""
    from ingest.parse.html.visibility import strip_invisible

    found = _NODE.match(piece)
    if found is None or _INDEX in piece:
        return ""
    name, text = found[1].strip(), strip_invisible(_PICTURE.sub("", piece[found.end() :]))
    heading = _HEADING.match(text)
    level = 1 if name == "Top" else 2 if heading is None else _LEVELS.index(heading[2][0]) + 2
    title = heading[1].strip() if heading else name
    body, _, menu = (text[heading.end() :] if heading else text).partition("\n* Menu:\n")
    lines = body.replace("\b", "").expandtabs().splitlines()
    return (
        f'<h{level} id="{escape(_anchor(name))}">{escape(title, quote=False)}</h{level}>'
        f"{''.join(_blocks(lines, 0))}{_menu(menu)}"
    )


def _anchor(node: str) -> str:
    """Return the id that makeinfo gives a node in HTML."""
    plain = re.sub(r"\s+", " ", node.strip())
    return "".join(
        sign if re.match(r"[A-Za-z0-9-]", sign) else "-" if sign == " " else f"_{ord(sign):04x}"
        for sign in plain
    )


def _menu(menu: str) -> str:
    items = "".join(f"<li>{_linked_entry(one)}</li>" for one in re.split(r"\n(?=\* )", f"\n{menu}")[1:])
    return f"<ul>{items}</ul>\n" if items else ""


def _linked_entry(entry: str) -> str:
    found = _MENU.match(entry)
    if found is None:
        return _text(entry)
    link = f'<a href="#{escape(_anchor(found[2] or found[1]))}">{escape(found[1], quote=False)}</a>'
    return f"{link} {_text(entry[found.end() :])}"


def _text(text: str) -> str:
    """Return running text on one line, with the nodes that it refers to as links."""

    def link(found: re.Match[str]) -> str:
        place, says = found[3] or found[2], " ".join(found[2].split())
        see = "See" if found[1] == "N" else "see"
        return (
            f"{see} {says}"
            if place.startswith("(")
            else f'{see} <a href="#{escape(_anchor(unescape(place)))}">{says}</a>'
        )

    return _NOTE.sub(link, " ".join(escape(text, quote=False).split()))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else 10_000


def _blocks(lines: list[str], depth: int) -> Iterator[str]:
    """Yield blocks: what is indented by five belongs to the term or item above it, else it is an example."""
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        item, defined = _ITEM.match(lines[at]), _DEFINED.match(lines[at])
        end = at + 1
        while end < len(lines) and _indent(lines[end]) == 0 and not item and not defined:
            end += 1
        is_term = _indent(lines[at]) == 0 and end < len(lines) and 5 <= _indent(lines[end]) < 10_000
        if item or defined or is_term or _indent(lines[at]) >= 5:
            start = at if _indent(lines[at]) >= 5 else end
            end = start
            while end < len(lines) and _indent(lines[end]) >= 5:
                end += 1
            inner = [line[5:] for line in lines[start:end]]
            yield _held(lines[at:start], inner, item, defined, depth)
        else:
            while end < len(lines) and lines[end].strip() and _indent(lines[end]) < 5:
                end += 1
            yield f"<p>{_text(' '.join(lines[at:end]))}</p>\n"
        at = end


def _held(
    terms: list[str], inner: list[str], item: re.Match[str] | None, defined: re.Match[str] | None, depth: int
) -> str:
    if not terms or depth >= MAX_NESTING:
        shown = "\n".join((*terms, *inner)).strip("\n")
        return f"<pre>\n{escape(shown, quote=False)}</pre>\n" if shown.strip() else ""
    if item:
        first = item[4]
        while inner and inner[0].strip() and _indent(inner[0]) < 3:
            first += f" {inner.pop(0).strip()}"
        body = f"<p>{_text(first)}</p>{''.join(_blocks(inner, depth + 1))}"
        return f'<ol start="{item[3]}"><li>{body}</li></ol>' if item[3] else f"<ul><li>{body}</li></ul>"
    names = [defined[1]] if defined else terms
    shown = "".join(f"<dt>{_text(name)}</dt>" for name in names)
    return f"<dl>{shown}<dd>{''.join(_blocks(inner, depth + 1))}</dd></dl>\n"


FORMAT = DocumentFormat(
    name="info",
    version="1",
    parse=_parse,
    recognise=_recognise,
    shared_suffixes=(*_SUFFIXES, *(f"{one}.gz" for one in _SUFFIXES)),
    shared_types=("text/plain", "application/gzip", "application/x-gzip"),
    size=SizeClass.FILE,
    unread_secrets=lambda data: find_in_source(unpack_text(data, subject="")),
)
