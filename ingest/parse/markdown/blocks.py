"""Markdown > headings and blocks, and the links in them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, paragraph, reference
from markdown_it.token import Token

from ingest.parse.footnotes import MarkedPart, NoteEnd, NoteStart, place_notes
from ingest.parse.html.dom import normal_space
from ingest.parse.links import FoundLink
from ingest.parse.markdown.inline_html import read_html
from ingest.parse.markdown.slugs import Slugs, split_explicit_id
from ingest.parse.outline import (
    BLOCK_JOINT,
    LINE_JOINT,
    STRUCK,
    Anchor,
    Block,
    BoxEnd,
    BoxStart,
    Heading,
    LinkSpan,
    Part,
)
from schemas.edges import LinkPosition

_CELL_JOINT = " | "
_NOTE = re.compile(r"\[\^([^\]\s]{1,80})\]:[ \t]")
_MARK = re.compile(r"\[\^([^\]\s]{1,80})\](?!:)")
_NOTE_INDENT = 4
_LINK_START = re.compile(r"<a[\s>]", re.IGNORECASE)
_STRUCK = re.compile(r"</?(?:del|s|strike)(?:\s[^>]*)?>", re.IGNORECASE)
_LINK_END = re.compile(r"</a\s*>", re.IGNORECASE)
_INFO = re.compile(r"\{?\s*\.?([a-z][\w+#.-]{0,29})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MarkdownParts:
    """A Markdown body: parts in reading order, links as written."""

    parts: tuple[Part, ...]
    links: tuple[FoundLink, ...]


def read_markdown(body: str) -> MarkdownParts:
    """Read CommonMark with tables and strikethrough."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.block.ruler.at("reference", _reference)
    parser.block.ruler.before("reference", "footnote", _footnote, {"alt": ["paragraph", "reference"]})
    return _Reader(parser.parse(body)).read()


def _reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read the target of a link; to CommonMark a footnote would be one, and its text a target."""
    at = state.bMarks[start] + state.tShift[start]
    return not state.src.startswith("[^", at) and reference(state, start, end, silent)


def _footnote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read `[^1]: text` as far as a paragraph goes; what is indented behind it belongs to it."""
    if state.is_code_block(start) or (mark := _line_of(state, start)) is None:
        return False
    if silent:
        return True
    state.push("footnote_open", "", 1).meta = {"mark": mark}
    paragraph(state, start, end, silent)
    last = state.line
    while last < end and (state.isEmpty(last) or state.sCount[last] >= state.blkIndent + _NOTE_INDENT):
        last += 1
    indent, state.blkIndent = state.blkIndent, state.blkIndent + _NOTE_INDENT
    state.md.block.tokenize(state, state.line, last)
    state.blkIndent, state.line = indent, last
    state.push("footnote_close", "", -1)
    return True


def _line_of(state: StateBlock, line: int) -> str | None:
    """The mark of the footnote that begins in a line; None for any other line."""
    found = _NOTE.match(state.src, state.bMarks[line] + state.tShift[line])
    return found[1] if found else None


def _marks_in(part: Heading | Block) -> list[str]:
    return _MARK.findall(part.text) if "[^" in part.text else []


@dataclass(frozen=True, slots=True)
class _Inline:
    """Text with the ids and links in it."""

    text: str
    anchors: tuple[Anchor, ...] = ()
    links: tuple[LinkSpan, ...] = ()

    def spaced(self) -> "_Inline":
        """With single spaces, as in a cell or a heading; ids stay with what is around."""

        def at(offset: int) -> int:
            return len(normal_space(f"{self.text[:offset]}.")) - 1

        return _Inline(
            text=normal_space(self.text),
            links=tuple((at(start), max(at(start), at(end)), link) for start, end, link in self.links),
        )


def _joined(parts: Sequence[_Inline], joint: str) -> _Inline:
    links: list[LinkSpan] = []
    at = 0
    for part in parts:
        links += _moved(part.links, at)
        at += len(part.text) + len(joint)
    return _Inline(joint.join(part.text for part in parts), links=tuple(links))


def _moved(links: Iterable[LinkSpan], by: int) -> tuple[LinkSpan, ...]:
    return tuple((start + by, end + by, link) for start, end, link in links)


@dataclass(slots=True)
class _Reader:
    tokens: Sequence[Token]
    parts: list[MarkedPart] = field(default_factory=list)
    links: list[FoundLink] = field(default_factory=list)
    slugs: Slugs = field(default_factory=Slugs)
    lists: list[int | None] = field(default_factory=list)
    lead: str = ""
    joint: str = BLOCK_JOINT
    row: list[_Inline] = field(default_factory=list)
    rows: list[_Inline] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)

    def read(self) -> MarkdownParts:
        for index, token in enumerate(self.tokens):
            self._read(token, index)
        return MarkdownParts(tuple(place_notes(self.parts, _marks_in)), tuple(self.links))

    def _read(self, token: Token, index: int) -> None:
        match token.type:
            case "inline":
                self._inline(token, index)
            case "fence" | "code_block":
                self._add(token.content.strip("\n"), solid=True, language=_language(token.info))
            case "html_block":
                self._html(token.content)
            case "bullet_list_open" | "ordered_list_open":
                start = token.attrGet("start")
                self.lists.append(None if token.type[0] == "b" else int(start if start is not None else 1))
            case "bullet_list_close" | "ordered_list_close":
                self.lists.pop()
                self.joint = self._next_joint()
            case "list_item_open":
                self._item()
            case "footnote_open":
                self.parts.append(NoteStart((token.meta["mark"],)))
            case "footnote_close":
                self.parts.append(NoteEnd())
            case "blockquote_open":
                self.parts.append(BoxStart(kind=""))
            case "blockquote_close":
                self.parts.append(BoxEnd())
            case "tr_close":
                self.rows.append(_joined(self.row, _CELL_JOINT))
                self.row = []
            case "table_close":
                table = _joined(self.rows, "\n")
                header = len(self.rows[0].text) if len(self.rows) > 1 else 0
                self._add(table.text, links=table.links, header=header)
                self.rows = []

    def _inline(self, token: Token, index: int) -> None:
        found = self._text_of(token.children or [])
        opener = self.tokens[index - 1]
        if opener.type == "heading_open":
            self._heading(found, int(opener.tag[1:]))
        elif opener.type in {"td_open", "th_open"}:
            self.row.append(found.spaced())
        else:
            self._add(found.text, found.anchors, found.links)

    def _heading(self, found: _Inline, level: int) -> None:
        title, explicit = split_explicit_id(normal_space(found.text))
        fragment = self.slugs.of(title, explicit)
        if title:
            aliases = tuple(dict.fromkeys((*self.waiting, *(name for _, name in found.anchors))))
            links = tuple(link for _, _, link in found.links)
            self.waiting.clear()
            self.lead = ""
            self.parts.append(
                Heading(text=title, level=level, fragment=fragment, aliases=aliases, links=links)
            )

    def _item(self) -> None:
        number = self.lists[-1]
        mark = "- " if number is None else f"{number}. "
        self.lists[-1] = None if number is None else number + 1
        self.lead = "  " * (len(self.lists) - 1) + mark

    def _html(self, content: str) -> None:
        found = read_html(content)
        self.waiting.extend(found.anchors)
        self.links.extend(found.links)
        self._add(found.text, links=found.spans)

    def _add(
        self,
        text: str,
        anchors: tuple[Anchor, ...] = (),
        links: tuple[LinkSpan, ...] = (),
        *,
        solid: bool = False,
        header: int = 0,
        language: str | None = None,
    ) -> None:
        if not text.strip():
            self.waiting.extend(name for _, name in anchors)
            return
        opened = tuple((0, name) for name in self.waiting)
        shifted = tuple((offset + len(self.lead), name) for offset, name in anchors)
        block = Block(
            text=self.lead + text,
            joint=self.joint,
            anchors=(*opened, *shifted),
            links=_moved(links, len(self.lead)),
            solid=solid,
            header=header + len(self.lead) if header else 0,
            language=language,
        )
        self.parts.append(block)
        self.waiting.clear()
        self.lead = ""
        self.joint = self._next_joint()

    def _next_joint(self) -> str:
        return LINE_JOINT if self.lists else BLOCK_JOINT

    def _text_of(self, children: Sequence[Token]) -> _Inline:
        text = ""
        anchors: list[Anchor] = []
        spans: list[LinkSpan] = []
        open_links: list[tuple[str, int]] = []
        elements: list[tuple[str | None, int]] = []  # apart, for `</a>` ends no link of Markdown's
        for child in children:
            match child.type:
                case "text" | "code_inline" | "image":
                    text += child.content
                case "softbreak":
                    text += " "
                case "hardbreak":
                    text += "\n"
                case "link_open":
                    open_links.append((str(child.attrGet("href") or ""), len(text)))
                case "link_close" if open_links:
                    spans += self._close(open_links.pop(), text)
                case "s_open" | "s_close":
                    text += STRUCK
                case "html_inline" if _STRUCK.fullmatch(child.content):
                    text += STRUCK
                case "html_inline" if _LINK_END.fullmatch(child.content):
                    spans += self._close(elements.pop() if elements else (None, 0), text)
                case "html_inline":
                    found = read_html(child.content)
                    href = found.links[0].href if found.links else None
                    if _LINK_START.match(child.content) and (href or not child.content.endswith("/>")):
                        elements.append((href, len(text)))
                    anchors.extend((len(text), name) for name in found.anchors)
        for href, _ in elements:
            spans += self._close((href, len(text)), text)
        cut = len(text) - len(text.lstrip())
        return _Inline(text.strip(), tuple(anchors), _moved(sorted(spans, key=_begins), -cut))

    def _close(self, opened: tuple[str | None, int], text: str) -> tuple[LinkSpan, ...]:
        """Keep a link whose words end here, and say where they are, without white space around them."""
        href, start = opened
        if href is None:
            return ()
        words, key = text[start:], object()
        self.links.append(FoundLink(href, normal_space(words), LinkPosition.BODY, key=key))
        first = start + len(words) - len(words.lstrip())
        return ((first, max(first, start + len(words.rstrip())), key),)


def _begins(span: LinkSpan) -> int:
    return span[0]


def _language(info: str) -> str | None:
    """What a fence's first line names, as `python` of "python title=x", "python,ignore" or "{.python}"."""
    name = _INFO.match(info.strip())
    return name[1].lower() if name else None
