"""Markdown > headings and blocks, and the links in them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, reference
from markdown_it.token import Token

from ingest.parse.html.dom import normal_space
from ingest.parse.links import FoundLink
from ingest.parse.markdown.inline_html import read_html
from ingest.parse.markdown.slugs import Slugs, split_explicit_id
from ingest.parse.outline import BLOCK_JOINT, LINE_JOINT, Anchor, Block, BoxEnd, BoxStart, Heading, Part
from schemas.edges import LinkPosition

_CELL_JOINT = " | "
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
    return _Reader(parser.parse(body)).read()


def _reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read the target of a link; to CommonMark a footnote would be one, and its text a target."""
    at = state.bMarks[start] + state.tShift[start]
    return not state.src.startswith("[^", at) and reference(state, start, end, silent)


@dataclass(slots=True)
class _Reader:
    tokens: Sequence[Token]
    parts: list[Part] = field(default_factory=list)
    links: list[FoundLink] = field(default_factory=list)
    slugs: Slugs = field(default_factory=Slugs)
    lists: list[int | None] = field(default_factory=list)
    lead: str = ""
    joint: str = BLOCK_JOINT
    row: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)

    def read(self) -> MarkdownParts:
        for index, token in enumerate(self.tokens):
            self._read(token, index)
        return MarkdownParts(tuple(self.parts), tuple(self.links))

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
            case "blockquote_open":
                self.parts.append(BoxStart())
            case "blockquote_close":
                self.parts.append(BoxEnd())
            case "tr_close":
                self.rows.append(_CELL_JOINT.join(self.row))
                self.row = []
            case "table_close":
                self._add("\n".join(self.rows), header=len(self.rows[0]) if len(self.rows) > 1 else 0)
                self.rows = []

    def _inline(self, token: Token, index: int) -> None:
        text, anchors = self._text_of(token.children or [])
        opener = self.tokens[index - 1]
        if opener.type == "heading_open":
            self._heading(text, int(opener.tag[1:]), anchors)
        elif opener.type in {"td_open", "th_open"}:
            self.row.append(normal_space(text))
        else:
            self._add(text, anchors)

    def _heading(self, text: str, level: int, anchors: tuple[Anchor, ...]) -> None:
        title, explicit = split_explicit_id(normal_space(text))
        fragment = self.slugs.of(title, explicit)
        if title:
            aliases = tuple(dict.fromkeys((*self.waiting, *(name for _, name in anchors))))
            self.waiting.clear()
            self.lead = ""
            self.parts.append(Heading(text=title, level=level, fragment=fragment, aliases=aliases))

    def _item(self) -> None:
        number = self.lists[-1]
        mark = "- " if number is None else f"{number}. "
        self.lists[-1] = None if number is None else number + 1
        self.lead = "  " * (len(self.lists) - 1) + mark

    def _html(self, content: str) -> None:
        found = read_html(content)
        self.waiting.extend(found.anchors)
        self.links.extend(found.links)
        self._add(found.text)

    def _add(
        self,
        text: str,
        anchors: tuple[Anchor, ...] = (),
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

    def _text_of(self, children: Sequence[Token]) -> tuple[str, tuple[Anchor, ...]]:
        pieces: list[str] = []
        anchors: list[Anchor] = []
        open_links: list[tuple[str, int]] = []
        for child in children:
            match child.type:
                case "text" | "code_inline":
                    pieces.append(child.content)
                case "softbreak":
                    pieces.append(" ")
                case "hardbreak":
                    pieces.append("\n")
                case "image":
                    pieces.append(child.content)
                case "link_open":
                    open_links.append((str(child.attrGet("href") or ""), len(pieces)))
                case "link_close" if open_links:
                    href, start = open_links.pop()
                    name = normal_space("".join(pieces[start:]))
                    self.links.append(FoundLink(href, name, LinkPosition.BODY))
                case "html_inline":
                    found = read_html(child.content)
                    self.links.extend(found.links)
                    anchors.extend((sum(map(len, pieces)), name) for name in found.anchors)
        return "".join(pieces).strip(), tuple(anchors)


def _language(info: str) -> str | None:
    """What a fence's first line names, as `python` of "python title=x", "python,ignore" or "{.python}"."""
    name = _INFO.match(info.strip())
    return name[1].lower() if name else None
