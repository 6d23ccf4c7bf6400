"""What tells an element within the content from its text: where it leads, and what stands around it.

A name alone tells nothing: sections are called by their subject (`id="related"`), as frames are.
"""

from itertools import chain, islice

from lxml.html import HtmlElement

from ingest.parse.html.dom import HEADING_LEVELS, name_parts
from ingest.parse.html.words import BLOCK_TAGS, word_set

LINKED = 0.3
"""Share of words in links from which on an element leads elsewhere."""

CONTROLS = word_set("input select textarea")
"""What is there to be filled in or to be chosen from."""

_RUNNING = word_set("p pre ul ol dl blockquote table") | HEADING_LEVELS.keys()
_TEXTS = ("p", "pre", "li", "dd")
_FRAMES = word_set("nav header footer aside form")
_ROOTS = word_set("main article body html")
_PASSAGE = 8
"""Words of a paragraph from which on it is one of a text."""

_NEAR = 12
"""Siblings on one side of an element among which text is sought."""


def count_words(element: HtmlElement) -> int:
    """Words under an element, seen or not."""
    return len("".join(element.itertext()).split())


def link_words(element: HtmlElement) -> int:
    """Words in links that lead elsewhere; a list of links to its own page is a table of contents."""
    is_contents = next(element.iter("ul", "ol"), None) is not None
    hrefs = ((link, link.get("href")) for link in element.iter("a"))
    return sum(count_words(link) for link, href in hrefs if href and (is_contents or href[0] != "#"))


def leads_elsewhere(element: HtmlElement) -> bool:
    """Whether it is there to be clicked, not to be read."""
    if next(element.iter("button", *CONTROLS), None) is not None:
        return True
    return link_words(element) >= LINKED * count_words(element)


def is_within_words(element: HtmlElement) -> bool:
    """Whether it is inline, and words stand beside it: it is one of them."""
    at = element
    while at.tag not in BLOCK_TAGS and (around := at.getparent()) is not None:
        if (at.tail or "").strip() or (around.text or "").strip():
            return True
        at = around
    return False


def is_beside_text(element: HtmlElement) -> bool:
    """Whether running text stands right beside it, as beside no column of a page."""
    near = chain(islice(element.itersiblings(preceding=True), _NEAR), islice(element.itersiblings(), _NEAR))
    return any(one.tag in _RUNNING for one in near)


def is_amid_text(element: HtmlElement) -> bool:
    """Whether text of what is around stands before and behind it, or before it and right beside it."""
    before = behind = False
    beside = is_beside_text(element)
    for at in chain([element], islice(element.iterancestors(), 1)):
        if at.tag in _ROOTS:
            break
        before = before or any(map(holds_passage, islice(at.itersiblings(preceding=True), _NEAR)))
        behind = behind or any(map(holds_passage, islice(at.itersiblings(), _NEAR)))
        if before and (behind or beside):
            return True
    return False


def holds_passage(element: HtmlElement) -> bool:
    """Whether a paragraph of a text stands in it."""
    if element.tag in _FRAMES:
        return False
    return any(count_words(text) >= _PASSAGE for text in element.iter(*_TEXTS))


def _lists_contents(element: HtmlElement) -> bool:
    """Whether it is little else than links to places on its own page."""
    links = list(element.iter("a"))
    return leads_elsewhere(element) and all((link.get("href") or "#").startswith("#") for link in links)


def is_toc(element: HtmlElement) -> bool:
    """Whether it is called a table of contents, and is one."""
    names = name_parts(f"{element.get('class') or ''} {element.get('id') or ''}")
    return not names.isdisjoint(("toc", "contents")) and _lists_contents(element)


def names_heading(element: HtmlElement) -> bool:
    """Whether its id is that of a heading: its own, of a section below it, or by the words of the heading."""
    if element.tag in HEADING_LEVELS or element.get("role") == "heading":
        return True
    heading = next(element.iter(*HEADING_LEVELS), None)
    if heading is None:
        return False
    if element.tag == "section":
        return not _lists_contents(element)
    said = name_parts("".join(heading.itertext()))
    return name_parts(element.get("id") or "") <= said and not leads_elsewhere(element)
