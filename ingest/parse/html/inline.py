"""Text inside one element: headings, cells, captions, code."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.dom import HEADING_LEVELS, class_words, classes_of, normal_space
from ingest.parse.html.figures import figure_text
from ingest.parse.html.formulas import math_text
from ingest.parse.html.visibility import (
    BREAK_TAGS,
    UNSEEN_TAGS,
    holds_tag,
    is_hidden,
    raw_text,
    strip_invisible,
    word_set,
)
from ingest.parse.outline import Anchor, LinkSpan
from ingest.parse.wording import strip_numbering

OwnId = Callable[[HtmlElement], str | None]

_PERMALINKS = word_set(
    "headerlink hash-link anchor-link anchorjs-link permalink id_link heading-link heading-anchor header- "
    "anchor anchor copiable-link copy-link toc-anchor direct-link"
)
_MARKS = frozenset({"¶", "#", "§", "🔗", "🔗︎", "link", "permalink", "permanent link", "", "\u00e2\u00b6"})
"""The last is a pilcrow of UTF-8 that somebody read as Latin-1, in lower case."""

_BARE_MARKS = frozenset({"¶", "#", "§", "🔗", "◆"})
_TO_SOURCE = frozenset({"[src]", "[source]"})
"""What manuals of Node and Python put into a heading that names a function, to lead to its source code."""

_TO_TOP = frozenset({"top", "back to top", "return to top", "^", "↑", "▲"})
_CONTENTS_LABELS = frozenset({"on this page", "in this article"})
"""What themes write over the list of a page's own headings."""

_SKIPS = frozenset(
    f"{verb} to {place}"
    for verb in ("skip", "jump")
    for place in ("content", "main content", "main", "navigation", "search", "footer")
)

_NUMBERS = frozenset({"section-number", "secno", "header-section-number", "sectnum", "toc-section-number"})

_AFTER_NUMBER = re.compile(r"^[.:\u2013\u2014-]\s+")


def is_permalink(element: HtmlElement) -> bool:
    """Whether a link copies a heading's address, or leads to source code or past what frames the content."""
    if element.tag != "a":
        return element.tag == "span" and _edits_heading(element)
    if element.text in _TO_SOURCE:
        return True
    class_ = element.get("class")
    if class_ is not None and not _PERMALINKS.isdisjoint(class_words(class_)):
        text = strip_invisible(raw_text(element)).strip().lower()
        # One glyph of an icon font, as Font Awesome's chain U+F0C1, says no more.
        return text in _MARKS or (len(text) == 1 and unicodedata.category(text) == "Co")
    href = element.get("href") or ""
    if not href.startswith("#"):
        return False
    beside = element.getprevious()
    if beside is not None and beside.tag in HEADING_LEVELS and beside.get("id") == href[1:]:
        return True
    text = raw_text(element).strip()
    if text in _BARE_MARKS or text.lower() in _SKIPS:
        return True
    return href.lower().startswith("#top") and text.lower() in _TO_TOP


def _edits_heading(element: HtmlElement) -> bool:
    """Whether it is a link in brackets behind the words of a heading, as wikis lead to their editor."""
    if len(element) == 0:
        return False
    around, before = element.getparent(), element.getprevious()
    tags = {one.tag for one in (before, around) if one is not None and (before is not None or one.text)}
    if HEADING_LEVELS.keys().isdisjoint(tags):
        return False
    text = raw_text(element).strip()
    return text[:1] == "[" and text[-1:] == "]" and holds_tag(element, "a")


@dataclass(frozen=True, slots=True)
class InlineText:
    """Text with the ids and the links in it, at their offsets; a link is named by its element."""

    text: str
    anchors: tuple[Anchor, ...] = ()
    links: tuple[LinkSpan, ...] = ()


class OpenLinks:
    """The links around the text that is being read, and where the words of each were."""

    def __init__(self) -> None:
        self.spans: list[LinkSpan] = []
        self._open: list[tuple[HtmlElement, int]] = []
        self._found: dict[HtmlElement, tuple[int, int]] = {}

    def start(self, element: HtmlElement, at: int) -> None:
        """Note that an element begins, if it is a link."""
        if is_link(element):
            self._open.append((element, at))

    def words(self, start: int, end: int) -> None:
        """Note words; they are those of every link that is open."""
        for element, _ in self._open:
            self._found[element] = (self._found.get(element, (start, 0))[0], end)

    def end(self, element: HtmlElement) -> None:
        """Note that an element ends; a link without words is a picture, and stands where it began."""
        if self._open and self._open[-1][0] is element:
            _, at = self._open.pop()
            self.spans.append((*self._found.get(element, (at, at)), element))


def is_link(element: HtmlElement) -> bool:
    """Whether an element leads a reader elsewhere."""
    return element.tag == "a" and element.get("href") is not None


def no_id(_: HtmlElement) -> str | None:
    """Say that no id matters."""
    return None


def inline_text(element: HtmlElement, *, leave_out: frozenset[str] = frozenset()) -> str:
    """Visible text on one line.

    Args: leave_out: class names whose elements do not count.
    """
    return read_inline(element, leave_out=leave_out).text


def read_inline(
    element: HtmlElement,
    *,
    own_id: OwnId = no_id,
    leave_out: frozenset[str] = frozenset(),
    with_figures: bool = False,
) -> InlineText:
    """Return visible text on one line, with the ids and links in it; *element* itself is none of these.

    Args: own_id: gives the id of an element that a link can lead to; leave_out: class names whose
    elements do not count; with_figures: say what pictures show.
    """
    if len(element) == 0:
        return InlineText(normal_space(strip_invisible(element.text or "")))
    links = OpenLinks()
    pieces: list[str] = []
    anchors: list[Anchor] = []
    length = 0
    skipped = None
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, node in walk:
        found = None
        if event == "start":
            if node is not element and is_left_out(node, leave_out):
                walk.skip_subtree()
                skipped = node
                continue
            found = node.text
            anchor = own_id(node) if node is not element else None
            if anchor is not None:
                anchors.append((length, anchor))
            if node is not element:
                links.start(node, length)
            if node.tag == "math":
                found = f" {math_text(node)} "
                walk.skip_subtree()
            elif with_figures and node.tag == "img":
                found = f" {figure_text(node)} "
        elif node is not element:
            links.end(node)
            found = node.tail
        space = " " if node.tag in BREAK_TAGS and node is not skipped else ""
        words = normal_space(strip_invisible(found)) if found else ""
        if found and words:
            before = " " if (space or found[0].isspace()) and length and not pieces[-1].endswith(" ") else ""
            piece = before + words + (" " if found[-1].isspace() else "")
            links.words(length + len(before), length + len(before) + len(words))
        else:
            piece = " " if (space or found) and length and not pieces[-1].endswith(" ") else ""
        if piece:
            pieces.append(piece)
            length += len(piece)
    return InlineText("".join(pieces).rstrip(), tuple(anchors), tuple(links.spans))


def split_heading(element: HtmlElement, *, numbered: bool) -> tuple[str, str | None]:
    """Part a heading, without permalink marks and hidden parts, into its text and its number ("8.1").

    The label of a table of contents is no heading of the text: "".

    Args: numbered: the family writes numbers as plain text; else one that is marked up is a number.
    """
    text = inline_text(element, leave_out=_NUMBERS)
    marked = _marked_number(element)
    text = _AFTER_NUMBER.sub("", text) if marked else text
    if text.lower() in _CONTENTS_LABELS:
        return "", None
    bare = strip_numbering(text) if numbered else text
    number = text.removesuffix(bare) or marked
    return bare, number.rstrip(" .:-\u2013\u2014") or None


def _marked_number(element: HtmlElement) -> str:
    spans = element.iter("span", "bdi")
    marked = (node for node in spans if not _NUMBERS.isdisjoint(classes_of(node)))
    return next((inline_text(node) for node in marked), "")


def is_formula_twice(element: HtmlElement) -> bool:
    """Whether it shows the formula whose source stands right behind it, as MathJax 2 leaves its pages."""
    class_ = element.get("class")
    if class_ is None or not class_.startswith("MathJax"):
        return False
    behind = element.getnext()
    while behind is not None and (behind.get("class") or "").startswith("MathJax"):
        behind = behind.getnext()
    return behind is not None and behind.tag == "math" and (behind.get("type") or "").startswith("math/tex")


def is_left_out(element: HtmlElement, leave_out: frozenset[str] = frozenset()) -> bool:
    """Whether no reader sees an element as text, or its class is one of *leave_out*."""
    if element.tag in UNSEEN_TAGS or is_permalink(element) or is_hidden(element):
        return True
    class_ = element.get("class")
    return class_ is not None and bool(leave_out) and not leave_out.isdisjoint(class_words(class_))
