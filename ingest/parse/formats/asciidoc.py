"""AsciiDoc: made into HTML, which one reader knows for all formats; no file beside it is read.

Source: docs.asciidoctor.org, AsciiDoc Language; where that leaves a choice, what Asciidoctor 2 makes of it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape

from ingest.parse.formats.asciidoc_inline import ENTRY, Inline, chosen_lines, text_of_markup
from ingest.parse.formats.sniffing import CONDITION, is_binary, is_prose, is_whole_page
from ingest.parse.secrets import find_in_source
from schemas.formats import DocumentFormat, ParseTools, media_type
from schemas.fragment import GraphFragment, ParseRequest

MAX_NESTING = 12
"""Blocks and lists in one another; what is nested deeper is shown as it is written."""

_SUFFIXES = (".adoc", ".asciidoc")
_TYPES = ("text/asciidoc", "text/x-asciidoc")
_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?$")
_RULED, _LEVELS = re.compile(r"(?:={2,}|-{2,}|~{2,}|\^{2,}|\+{2,})$"), "=-~^+"
_WORDED = re.compile(r"(?![.\s\[]).*\w")
_FENCE = re.compile(
    r"((?:-{4,}|={4,}|\*{4,}|_{4,}|\.{4,}|\+{4,}|/{4,}|--|[|,:!]={3,})(?=$)|`{3,})([\w+#.-]*)$"
)
_ATTRIBUTES = re.compile(r"\[(?:|[\w.#%,\"'{*].*)\]$")
_ANCHOR = re.compile(r"\[\[([\w:.-]+)(?:,.*)?\]\]$")
_TITLE = re.compile(r"\.([^\s.].*)$")
_PART = re.compile(r"\s*(?:([\w-]+)\s*=\s*)?(\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^,]*)(?:,|$)")
_BULLET = re.compile(r"[ \t]*(\*{1,5}|-|•|\.{1,5}|<(?:\d+|\.)>|\d+\.|[a-zA-Z]\.|[ivxIVX]+\))[ \t]+(\S.*)$")
_TERM = re.compile(r"(?!//)[ \t]*(\S.*?)(:{2,4}|;;)(?:[ \t]+(.*))?$")
_CALLED = re.compile(r"<(\d+|\.)>(?=(?: <(?:\d+|\.)>)*$)", re.MULTILINE)
_NOTE = re.compile(r"(NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+")
_NOTES = frozenset({"NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"})
_IMAGE = re.compile(r"image::\S*?\[(.*)\]$")
_SILENT = re.compile(r"(?:toc|video|audio)::\S*\[.*\]$|'{3,}$|<{3,}$|-{3}$|\*{3}$")
_SPEC = re.compile(r"(?<=\s)(?:(\d{1,4})?(?:\.(\d{1,4}))?([+*]))?(?:[<^>]?(?:\.[<^>])?)([adehlmsv])?\Z")
_CELL = re.compile(r"(?<!\\)\|")
_MAX_SPAN = 200
"""Rows that a cell covers; each costs time, and a file of a kilobyte can state any number."""

_IN_NO_ID = re.compile(r"[^\w\s.-]|[.]$")
_CONTROLS = dict.fromkeys(range(9)) | {0xB: None}


def _recognise(head: bytes, content_type: str, name: str) -> bool:
    is_named = name.endswith(_SUFFIXES) or media_type(content_type) in _TYPES
    return is_named and is_prose(head, content_type) and not is_whole_page(head) and not is_binary(head)


def _parse(data: bytes, request: ParseRequest, tools: ParseTools) -> GraphFragment:
    from ingest.parse.html.whole import assemble_markup, decode_text, say_missing

    left_out = list[str]()
    markup, included = asciidoc_to_html(decode_text(data, request), left_out)
    tools.left_out.add((CONDITION, line) for line in left_out)
    return assemble_markup(markup, request, tools, kind=FORMAT.name, warnings=say_missing(included))


def asciidoc_to_html(text: str, left_out: list[str] | None = None) -> tuple[str, tuple[str, ...]]:
    """Return a document as the body of a page, and the files that it includes, which are left out.

    Args: left_out: takes up the lines under conditions that do not hold.
    """
    inline, included = Inline(), dict[str, None]()
    written = text.translate(_CONTROLS).expandtabs(4).splitlines()
    lines = tuple(chosen_lines(written, included, [] if left_out is None else left_out))
    return inline.finish(_Blocks(inline).document(lines)), tuple(included)


@dataclass(slots=True)
class _Lines:
    """Lines, and which of them is next."""

    lines: Sequence[str]
    at: int = 0

    @property
    def line(self) -> str:
        return self.lines[self.at] if self.at < len(self.lines) else ""

    @property
    def is_done(self) -> bool:
        return self.at >= len(self.lines)

    def take(self) -> str:
        self.at += 1
        return self.lines[self.at - 1]

    def take_until(self, end: str) -> list[str]:
        """Take the lines up to one like *end*, and that."""
        start = self.at
        ends = (at for at in range(start, len(self.lines)) if self.lines[at] == end)
        self.at = next(ends, len(self.lines)) + 1
        return list(self.lines[start : self.at - 1])


@dataclass(slots=True)
class _Style:
    """What stands above a block."""

    names: list[str] = field(default_factory=list)
    named: dict[str, str] = field(default_factory=dict)
    title: str = ""
    id: str = ""

    def read(self, inside: str) -> None:
        for key, value in _PART.findall(inside):
            plain = value.strip().strip("\"'")
            self.named |= {key: plain} if key else {}
            self.names += [] if key else [plain]
        if self.names and (id_ := re.search(r"#([\w:.-]+)", self.names[0])):
            self.id = id_[1]

    @property
    def first(self) -> str:
        return re.split(r"[.#%]", self.names[0])[0] if self.names else ""

    def is_headed(self, lines: Sequence[str]) -> bool:
        is_said = "%header" in "".join(self.names) or "header" in self.named.get("options", "")
        return is_said or (len(lines) > 1 and bool(lines[0]) and not lines[1])


class _Blocks:
    """Turns the lines of one document into blocks of HTML."""

    def __init__(self, inline: Inline) -> None:
        self._inline = inline
        self._ids: Counter[str] = Counter()

    def document(self, lines: Sequence[str]) -> str:
        """Return header and blocks; below the title stand its authors and attributes up to an empty line."""
        at, out = _Lines(lines), ""
        style = self._above(at)
        if heading := self._heading(at):
            out = self._section(heading, style)
            while heading[0] == 1 and at.line:
                if not at.line.startswith("//") and not self._takes_entry(at):
                    out += f"<p>{self._inline.html(at.line)}</p>"
                at.at += 1
        else:
            at.at = 0
        return out + self._all(at, 0)

    def _all(self, at: _Lines, depth: int) -> str:
        if depth > MAX_NESTING:
            return _pre(at.lines)
        out = []
        while not at.is_done:
            out.append(self._block(at, depth, ()))
        return "".join(out)

    def _above(self, at: _Lines) -> _Style:
        """Take what says something of the next block, and what says nothing."""
        style = _Style()
        while not at.is_done:
            line = at.line
            if anchor := _ANCHOR.match(line):
                style.id = anchor[1]
            elif _ATTRIBUTES.match(line):
                style.read(self._inline.fill(line[1:-1]))
            elif (title := _TITLE.match(line)) and not _FENCE.match(line):
                style.title = title[1]
            elif line.startswith("////") and set(line) == {"/"}:
                at.at += 1
                at.take_until(line)
                continue
            elif line and not self._takes_entry(at) and not (line.startswith("//") and line[2:3] != "/"):
                break
            at.at += 1
        return style

    def _takes_entry(self, at: _Lines) -> bool:
        """Set the attribute that the line is of, if it is; *at* stays on its last line."""
        if (found := ENTRY.match(at.line)) is None:
            return False
        value = found[2] or ""
        while value.endswith(" \\") and at.at + 1 < len(at.lines):
            at.at += 1
            value = f"{value[:-2].removesuffix(' +')} {at.line.strip()}"
        self._inline.define(found[1], value)
        return True

    def _heading(self, at: _Lines) -> tuple[int, str] | None:
        if found := _HEADING.match(at.line):
            at.at += 1
            return len(found[1]), found[2]
        under = at.lines[at.at + 1] if at.at + 1 < len(at.lines) else ""
        is_ruled = _RULED.match(under) and abs(len(under) - len(at.line)) <= 1 and _WORDED.match(at.line)
        if not is_ruled or _FENCE.match(at.line):
            return None
        at.at += 2
        return _LEVELS.index(under[0]) + 1, at.lines[at.at - 2]

    def _section(self, heading: tuple[int, str], style: _Style) -> str:
        markup = self._inline.html(heading[1])
        title = text_of_markup(markup)
        id_ = style.id or ("" if heading[0] == 1 else self._id(title))  # that of a page has none
        self._inline.titles.setdefault(id_, title)
        named = f' id="{escape(id_)}"' if id_ else ""
        return f"<h{heading[0]}{named}>{markup}</h{heading[0]}>\n"

    def _id(self, title: str) -> str:
        known = self._inline.attributes
        prefix, joint = known.get("idprefix", "_"), known.get("idseparator", "_")
        words = re.split(r"[\s._-]+" if joint else r"\s+", _IN_NO_ID.sub("", title.lower()))
        id_ = prefix + joint.join(filter(None, words))
        self._ids[id_] += 1
        return id_ if self._ids[id_] == 1 else f"{id_}{joint}{self._ids[id_]}"

    def _block(self, at: _Lines, depth: int, stack: tuple[str, ...]) -> str:
        style = self._above(at)
        if (not depth or style.first in ("discrete", "float")) and (heading := self._heading(at)):
            return self._section(heading, style)
        before = f'<a id="{escape(style.id)}"></a>' if style.id else ""
        titled = f"<p>{self._inline.html(style.title)}</p>" if style.title else ""
        if at.is_done or _SILENT.match(at.line):
            at.at += 1
            return before
        if fence := _FENCE.match(at.line):
            at.at += 1
            lines = at.take_until(fence[1])
            return before + self._fenced(lines, style, fence, depth, titled)
        if image := _IMAGE.match(at.line):
            at.at += 1
            return f"{before}{titled}<p>{self._inline.html(image[1].partition(',')[0])}</p>"
        if _item_key(at.line) is not None and max(depth, len(stack)) < MAX_NESTING:
            return before + titled + self._list(at, depth, stack, style)
        return before + self._paragraph(self._lines_of_paragraph(at), style, titled)

    def _lines_of_paragraph(self, at: _Lines) -> list[str]:
        lines = [at.take()]
        while at.line and at.line != "+" and not _FENCE.match(at.line) and not _ATTRIBUTES.match(at.line):
            line = at.take()
            lines += [line] if not line.startswith("//") or line.startswith("///") else []
        return lines

    def _paragraph(self, lines: list[str], style: _Style, titled: str) -> str:
        kind = style.first
        if kind in ("source", "listing", "literal") or (
            lines[0][:1] == " " and kind not in (*_NOTES, "normal")
        ):
            least = min(len(line) - len(line.lstrip()) for line in lines)
            return self._code([line[least:] for line in lines], style)
        text = "\n".join(line.strip() for line in lines)
        if note := _NOTE.match(text):
            style.names[:0], text = [note[1]], text[note.end() :]
        shown = self._inline.html(text)
        shown = shown.replace("\n", "<br>") if kind == "verse" else shown
        return self._boxed(f"<p>{shown}</p>\n", style, titled)

    def _boxed(self, body: str, style: _Style, titled: str) -> str:
        """Return what stands in a note or quotation, if the style says so, as that."""
        if style.first == "comment":
            return ""
        if style.first in _NOTES:
            kind = style.first.capitalize()
            above = f'<p class="admonition-title">{kind}</p>{titled}'
            return f'<div class="admonition {kind.lower()}">{above}{body}</div>\n'
        if style.first in ("quote", "verse"):
            said = self._inline.html(", ".join(filter(None, style.names[1:3])))
            return f"{titled}<blockquote>{body}{f'<p>— {said}</p>' if said else ''}</blockquote>"
        return titled + body

    def _fenced(self, lines: list[str], style: _Style, fence: re.Match[str], depth: int, titled: str) -> str:
        mark, is_open = fence[1][0], fence[1] == "--" and style.first not in ("source", "listing", "literal")
        if mark == "|" and not any(map(_CELL.search, lines)):  # of values parted by another sign
            return self._code(lines, style)
        if mark in "|!":
            return self._table([line.replace(mark, "|") for line in lines], style, depth)
        if mark == "/" or style.first == "comment":
            return ""
        if mark == "+" or style.first in ("stem", "latexmath", "asciimath"):
            return f"{titled}<p>{escape(text_of_markup(chr(10).join(lines)), quote=False)}</p>"
        if style.first == "verse" and lines:
            return self._paragraph(lines, style, titled)
        if mark in "-.`,:" and not is_open:
            return self._code(lines, style, fence[2])
        style.names = style.names or (["quote"] if mark == "_" else [])
        return self._boxed(self._all(_Lines(lines), depth + 1), style, titled)

    def _code(self, lines: Sequence[str], style: _Style, language: str = "") -> str:
        if style.first == "source":
            said = next(iter(style.names[1:2]), "") or style.named.get("language", "")
            language = said or self._inline.attributes.get("source-language", "")
        if "attributes" in style.named.get("subs", ""):
            lines = [self._inline.fill(line) for line in lines]
        title = f'<div class="code-block-title">{self._inline.html(style.title)}</div>' if style.title else ""
        return title + _pre(lines, language)

    def _list(self, at: _Lines, depth: int, stack: tuple[str, ...], style: _Style) -> str:
        key, out = _item_key(at.line) or "", []
        while not at.is_done and _item_key(at.line) == key:
            out.append(self._item(at, depth, (*stack, key)))
        tag = "dl" if key[0] in ":;" else "ul" if key[0] in "*-•" else "ol"
        told = {"..": ' type="a"', "...": ' type="i"', "a": ' type="a"', "i": ' type="i"'}.get(key, "")
        start = style.named.get("start", "")
        told += f' start="{start}"' if start.isdigit() and tag == "ol" else ""
        return f"<{tag}{told}>{''.join(out)}</{tag}>\n"

    def _item(self, at: _Lines, depth: int, stack: tuple[str, ...]) -> str:
        """Take one item with what belongs to it: lines of its text, lists in it, blocks behind a `+`."""
        term, first = _split_item(at.take())
        text, parts, looked = [first] if first else [], list[str](), 0
        while not at.is_done:
            if at.line == "+":
                at.at += 1
                parts.append(self._block(at, depth + 1, ()))
                continue
            while not at.is_done and (not at.line or at.line.startswith("//")):
                at.at += 1
            line, is_new = at.line, not at.lines[at.at - 1] and bool(text or parts or term is None)
            if at.is_done or (line == "+" and len(stack) > 1):
                break
            inner = _Lines(at.lines, at.at)
            is_above = at.at >= looked and (_ATTRIBUTES.match(line) or _TITLE.match(line))
            above = self._above(inner) if is_above else _Style()
            looked = max(looked, inner.at)
            nested = _item_key(inner.line)
            if nested is not None:
                if nested in stack or len(stack) >= MAX_NESTING:
                    break
                at.at = inner.at
                parts.append(self._list(at, depth, stack, above))
            elif is_new and line.startswith(" "):
                parts.append(self._block(at, depth + 1, stack))
            elif is_new or _FENCE.match(line) or _ATTRIBUTES.match(line):
                break
            elif parts and line != "+":
                parts.append(self._paragraph(self._lines_of_paragraph(at), _Style(), ""))
            elif line != "+":
                text.append(at.take().strip())
        body = (f"<p>{self._inline.html(chr(10).join(text))}</p>" if text else "") + "".join(parts)
        if term is None:
            return f"<li>{body}</li>"
        return f"<dt>{self._inline.html(term)}</dt>" + (f"<dd>{body}</dd>" if body else "")

    def _table(self, lines: list[str], style: _Style, depth: int) -> str:
        columns = _columns(style.named.get("cols", ""))
        cells = list(_cells(lines))
        first = _cells([next(filter(None, lines), "")])
        width = len(columns) or max(1, sum(int(across or 1) for across, _, _, _ in first))
        caption = f"<caption>{self._inline.html(style.title)}</caption>" if style.title else ""
        taken: Counter[int] = Counter()
        out, row, used, is_headed = [f"<table>{caption}<tr>"], 0, 0, style.is_headed(lines)
        for across, down, stated, text in cells:
            while used >= width:
                row += 1
                used = taken[row]
                out.append("</tr><tr>")
            kind = stated or (columns[used] if used < len(columns) else "")
            for below in range(1, min(int(down or 1), len(cells), _MAX_SPAN)):
                taken[row + below] += int(across or 1)
            used += int(across or 1)
            tag = "th" if (is_headed and not row) or kind == "h" else "td"
            spans = (f' colspan="{across}"' if across else "") + (f' rowspan="{down}"' if down else "")
            out.append(f"<{tag}{spans}>{self._cell(text, kind, depth)}</{tag}>")
        return "".join(out) + "</tr></table>\n"

    def _cell(self, text: str, kind: str, depth: int) -> str:
        if kind == "a":
            return self._all(_Lines(text.splitlines()), depth + 1)
        return "".join(f"<p>{self._inline.html(one)}</p>" for one in re.split(r"\n\n+", text) if one)


def _pre(lines: Sequence[str], language: str = "") -> str:
    name = f' class="language-{escape(language.lower())}"' if language else ""
    text = _CALLED.sub(r"(\1)", "\n".join(lines).strip("\n"))
    return f"<pre><code{name}>\n{escape(text, quote=False)}</code></pre>\n" if text.strip() else ""


def _item_key(line: str) -> str | None:
    """Return what tells items of one list from those of another."""
    if found := _BULLET.match(line):
        mark = found[1]
        if mark[0] in "*-•.":
            return mark
        return "1" if mark[0].isdigit() else "<>" if mark[0] == "<" else "i" if mark[-1] == ")" else "a"
    found = _TERM.match(line)
    return found[2] if found else None


def _split_item(line: str) -> tuple[str | None, str]:
    """Return the term of an item of a description list, and its text."""
    if found := _BULLET.match(line):
        return None, found[2]
    found = _TERM.match(line)
    return (found[1], found[3] or "") if found else (None, line)


def _columns(cols: str) -> list[str]:
    """Return the kind of each column that `cols` names: "a", "h", …, "" for text."""
    found: list[str] = []
    for part in filter(None, (one.strip() for one in re.split(r"[,;]", cols))):
        number, _, rest = part.rpartition("*")
        times = min(int(number[:4]), 100) if number[:4].isdecimal() else 1
        found += [rest[-1:] if rest[-1:].isalpha() else ""] * times
    return found


def _cells(lines: Sequence[str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield columns, rows and kind of each cell of a table as written before its sign, and its text."""
    pieces = _CELL.split("\n".join(lines))
    spec = _SPEC.search(f" {pieces[0]}")
    for number, piece in enumerate(pieces[1:], 2):
        after = _SPEC.search(piece) if number < len(pieces) else None
        text = (piece[: after.start()] if after else piece).replace("\\|", "|").strip()
        across, down, sign, kind = (one or "" for one in spec.groups()) if spec else ("", "", "", "")
        for _ in range(min(int(across or 1), 100) if sign == "*" else 1):
            yield across if sign == "+" else "", down, kind, text
        spec = after


FORMAT = DocumentFormat(
    name="asciidoc",
    version="1",
    parse=_parse,
    recognise=_recognise,
    suffixes=_SUFFIXES,
    media_types=_TYPES,
    shared_types=("text/plain",),
    is_text=True,
    unread_secrets=find_in_source,
)
