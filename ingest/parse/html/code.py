"""Code as it stands: its lines, whatever they are marked up with, and its indents, without line numbers."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.dom import class_words
from ingest.parse.html.inline import InlineText, OpenLinks, OwnId, is_left_out, no_id
from ingest.parse.html.visibility import strip_invisible
from ingest.parse.html.words import word_set
from ingest.parse.outline import Anchor, LinkSpan

_LINE_NUMBERS = word_set(
    "linenos lineno linenodiv gutter line-number line-numbers-rows line-numbers-wrapper blob-num "
    "listing_lines lnt ln linenumber hljs-ln-numbers code-line-number react-syntax-highlighter-line-number"
)
_LINES = word_set("div li p tr")
_ROWS = word_set("table thead tbody tr ol ul")
_CELLS = word_set("td th")
_NUMBER = re.compile(r"\s*\d*\s*")
_LINE_CLASS = re.compile(r"(?:^|[\s_-])(?:code)?line(?:$|\s)", re.IGNORECASE)
"""Of `line`, `code-line`, `token-line`."""

_BLOCK_STYLE = re.compile(r"display:\s*(?:block|table-row)")


def has_line_numbers(element: HtmlElement) -> bool:
    """Whether an element is a column of line numbers beside code, or one of them."""
    class_ = element.get("class")
    return class_ is not None and not _LINE_NUMBERS.isdisjoint(class_words(class_))


def is_numbering(pre: HtmlElement) -> bool:
    """Whether there is nothing in it but the numbers of the lines beside it."""
    around = pre.getparent()
    if around is None or around.tag != "td" or len(around.getparent()) < 2:
        return False
    words = "".join(pre.itertext()).split()
    counted = words[0].isdecimal() and len(words[0]) < 7 if words else False
    return counted and words == [str(int(words[0]) + at) for at in range(len(words))]


def code_text(element: HtmlElement, *, own_id: OwnId = no_id) -> InlineText:
    """Code as it stands, without line numbers and empty lines at the ends, with the ids and links in it."""
    code, links = _Code(), OpenLinks()
    anchors: list[Anchor] = []
    skipped: HtmlElement | None = None
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, node in walk:
        is_inside = node is not element
        if event == "start":
            if is_inside and (_is_number(node) or is_left_out(node)):
                walk.skip_subtree()
                skipped = node
                continue
            if is_inside:
                if _is_line(node):
                    code.line_start()
                if (anchor := own_id(node)) is not None:
                    anchors.append((code.length, anchor))
                links.start(node, code.length)
            found = "\n" if node.tag == "br" else node.text
            is_layout = node.tag in _ROWS or (
                len(node) > 0 and (node[0].tag in _LINES or node[0].tag in _ROWS)
            )
        else:
            if not is_inside:
                break
            links.end(node)
            if node is not skipped and _is_line(node):
                code.line_end()
            found = node.tail
            is_layout = node.tag in _LINES or node.tag in _ROWS or node.tag in _CELLS
            if found and node is skipped and _is_number(node):
                found = found.removeprefix("\xa0")
        if found and not (is_layout and not found.strip()):
            links.words(*code.add(found))
    return _shown(code.text, anchors, links.spans)


class _Code:
    """Code while it is read. An element that is a line ends with a line break, unless its text has one."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self.length = 0
        self._at_start = True
        self._ends = False
        self._starts: list[int] = []

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self._pieces)

    def line_start(self) -> None:
        """Begin an element that is a line."""
        if self._ends or not self._at_start:
            self._put("\n")
        self._starts.append(self.length)

    def line_end(self) -> None:
        """End it; the break waits for what follows."""
        self._ends = self._ends or not self._at_start or self._starts[-1] == self.length
        self._starts.pop()

    def add(self, text: str) -> tuple[int, int]:
        """Add text, and return where its words start and end."""
        if self._ends and not text.lstrip(" \t").startswith(("\n", "\r")):
            self._put("\n")
        words = text.strip()
        start = self.length + (text.index(words) if words else 0)
        self._put(text)
        return start, start + len(words)

    def _put(self, text: str) -> None:
        self._pieces.append(text)
        self.length += len(text)
        self._at_start, self._ends = text.endswith("\n"), False


def _is_line(node: HtmlElement) -> bool:
    """Whether an element is a line: by its tag, or a span that is called one, as are those beside it."""
    if node.tag in _LINES:
        return True
    if node.tag not in {"span", "code"} or not node.attrib:
        return False
    beside = (node, node.getprevious(), node.getnext())
    return all(
        one is None or _is_called_line(one.get("class") or "", one.get("style") or "") for one in beside
    )


@lru_cache(maxsize=4096)
def _is_called_line(class_: str, style: str) -> bool:
    return _LINE_CLASS.search(class_) is not None or _BLOCK_STYLE.search(style) is not None


def _is_number(node: HtmlElement) -> bool:
    """Whether it numbers a line: by its class, as first cell of a row, or as what nobody can copy."""
    if has_line_numbers(node):
        return True
    is_first = node.tag in _CELLS and node.getprevious() is None and node.getnext() is not None
    is_apart = "user-select" in (node.get("style") or "") or node.get("data-line-number") is not None
    return (is_first or is_apart) and _NUMBER.fullmatch("".join(node.itertext())) is not None


def _shown(written: str, anchors: list[Anchor], links: list[LinkSpan]) -> InlineText:
    raw = _shown_code(written)
    body = raw.strip("\n").rstrip()
    cut = len(raw) - len(raw.lstrip("\n"))
    marks = {at for at, _ in anchors}.union(*((start, end) for start, end, _ in links))
    shown = {at: min(max(0, to - cut), len(body)) for at, to in _offsets_shown(written, marks).items()}
    return InlineText(
        body,
        tuple((shown[at], name) for at, name in anchors),
        tuple((shown[start], shown[end], link) for start, end, link in links),
    )


def _shown_code(written: str) -> str:
    return strip_invisible(written).replace("\r\n", "\n").replace("\xa0", " ").expandtabs(4)


def _offsets_shown(written: str, offsets: Iterable[int]) -> Mapping[int, int]:
    """Return where each offset is in code as it is shown, where a tab is up to four columns."""
    shown: dict[int, int] = {}
    line = before = 0
    for offset in sorted(offsets):
        begins = written.rfind("\n", 0, offset) + 1
        if begins > line:
            before += len(_shown_code(written[line:begins]))
            line = begins
        shown[offset] = before + len(_shown_code(written[line:offset]))
    return shown
