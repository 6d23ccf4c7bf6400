"""Where an element stands: navigation, header, body, aside or footer, or apart within the content.

A name alone tells nothing: sections are called by their subject (`id="related"`), as frames are.
"""

from functools import lru_cache
from itertools import chain, islice

from lxml.html import HtmlElement

from ingest.parse.html.dom import HEADING_LEVELS, classes_of, name_parts
from ingest.parse.html.notes import stated_kind
from ingest.parse.html.visibility import BLOCK_TAGS, count_all_words, holds_tag, raw_text, word_set
from schemas.edges import LinkPosition

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


def link_words(element: HtmlElement) -> int:
    """Words in links that lead elsewhere; a list of links to its own page is a table of contents."""
    is_contents = holds_tag(element, "ul", "ol")
    hrefs = ((link, link.get("href")) for link in element.iter("a"))
    return sum(count_all_words(link) for link, href in hrefs if href and (is_contents or href[0] != "#"))


def leads_elsewhere(element: HtmlElement) -> bool:
    """Whether it is there to be clicked, not to be read."""
    if holds_tag(element, "button", *CONTROLS):
        return True
    return link_words(element) >= LINKED * count_all_words(element)


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
    return any(count_all_words(text) >= _PASSAGE for text in element.iter(*_TEXTS))


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
    said = name_parts(raw_text(heading))
    return name_parts(element.get("id") or "") <= said and not leads_elsewhere(element)


_TAGS = {
    "nav": LinkPosition.NAV,
    "header": LinkPosition.HEADER,
    "aside": LinkPosition.ASIDE,
    "footer": LinkPosition.FOOTER,
}
_ROLES = {
    **dict.fromkeys(
        word_set("navigation menu menubar directory doc-toc doc-index doc-pagelist search"), LinkPosition.NAV
    ),
    "banner": LinkPosition.HEADER,
    "complementary": LinkPosition.ASIDE,
    "contentinfo": LinkPosition.FOOTER,
}
_WORDS = {
    **dict.fromkeys(
        (
            *("nav", "navbar", "navigation", "navheader", "navfooter", "topnav", "subnav", "bottomnav"),
            *("menu", "toc", "toctree", "breadcrumb", "breadcrumbs", "pagination", "pager", "related"),
        ),
        LinkPosition.NAV,
    ),
    "sidebar": LinkPosition.ASIDE,
    "sphinxsidebar": LinkPosition.ASIDE,
    "masthead": LinkPosition.HEADER,
    "footer": LinkPosition.FOOTER,
}
_ADMONITIONS = word_set(
    "admonition note tip hint important warning caution danger attention seealso alert callout "
    "admonitionblock versionadded versionchanged deprecated theme-admonition markdown-alert"
)
_ASIDES = word_set("footnote footnote-list citation citation-list topic")
"""Classes under which docutils puts text that belongs to its page into an aside."""

_MAY_BE_BOX = frozenset({"div", "section", "table"})
_BOX_TAGS = frozenset({"blockquote", "details", "figure"})
_SUMMARIES = frozenset({"navigation header", "navigation footer"})


class Landmarks:
    """Positions of elements of one page; remembers what it has climbed.

    `outside` is the position of what stands neither in *content* nor in a landmark.
    """

    def __init__(self, content: HtmlElement | None, *, outside: LinkPosition = LinkPosition.BODY) -> None:
        self._known: dict[HtmlElement | None, LinkPosition] = {content: LinkPosition.BODY, None: outside}

    def position_of(self, element: HtmlElement) -> LinkPosition:
        """The nearest landmark at or above *element*; the content root is body, whatever is around it."""
        climbed: list[HtmlElement] = []
        at: HtmlElement | None = element
        while at is not None and at not in self._known:
            own = own_landmark(at)
            if own is not None:
                self._known[at] = own
                break
            climbed.append(at)
            at = at.getparent()
        position = self._known[at]
        self._known.update(dict.fromkeys(climbed, position))
        return position


def own_landmark(element: HtmlElement) -> LinkPosition | None:
    """What the element says it is: by tag, else by role, else by a word in its classes or id."""
    position = _TAGS.get(element.tag)
    if position is not None:
        return LinkPosition.BODY if position is LinkPosition.ASIDE and is_box(element) else position
    attributes = element.attrib
    if not attributes:
        return None
    if is_navigation_table(element):
        return LinkPosition.NAV
    role = attributes.get("role")
    if role in _ROLES:
        return _ROLES[role]
    if element.tag in {"body", "html", "a"}:
        return None
    named = _named_landmark(attributes.get("class") or "")
    if named is None and (named := _named_landmark(attributes.get("id") or "")) is not None:
        return None if names_heading(element) else named
    return named


@lru_cache(maxsize=4096)
def _named_landmark(name: str) -> LinkPosition | None:
    words = name_parts(name)
    return next((position for word, position in _WORDS.items() if word in words), None)


def is_navigation_table(element: HtmlElement) -> bool:
    """Whether it is the table by which DocBook XSL and gtk-doc lead from page to page; its summary says so.

    A table around headings lays out the page, whatever it is called.
    """
    if element.tag != "table" or (element.get("summary") or "").strip().lower() not in _SUMMARIES:
        return False
    return next(element.iter(*HEADING_LEVELS), None) is None


def is_box(element: HtmlElement) -> bool:
    """Whether the element is a note, quotation or fold-out within the text around it."""
    if element.tag in _BOX_TAGS:
        return True
    if element.tag != "aside" and (element.tag not in _MAY_BE_BOX or not element.attrib):
        return False
    words = classes_of(element)
    if not _ADMONITIONS.isdisjoint(words) or element.get("role") == "note":
        return True
    if element.tag == "div":
        return stated_kind(element) != "" and _is_callout(element)
    if element.tag != "aside":
        return False
    if element.find("blockquote") is not None:
        return True
    return not _ASIDES.isdisjoint(words) or stated_kind(element) != "" or _reads_as_text(element)


def _is_callout(box: HtmlElement) -> bool:
    """Whether a `div` that is called a note or warning is one: amid text, and none within another."""
    around = box.getparent()
    inside = around is not None and stated_kind(around) != ""
    return not inside and is_beside_text(box) and not leads_elsewhere(box)


def _reads_as_text(aside: HtmlElement) -> bool:
    """Whether an aside is one of its author's, amid the text and not there to be clicked."""
    if (aside.get("role") or "complementary") != "complementary" or not any(map(str.strip, aside.itertext())):
        return False
    return not leads_elsewhere(aside) and is_amid_text(aside)
