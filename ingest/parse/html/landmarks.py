"""Where on a page an element stands: navigation, header, body, aside or footer."""

from functools import lru_cache

from lxml.html import HtmlElement

from ingest.parse.html.apart import is_amid_text, is_beside_text, leads_elsewhere, names_heading
from ingest.parse.html.dom import HEADING_LEVELS, class_words, name_parts
from ingest.parse.html.notes import stated_kind
from ingest.parse.html.words import word_set
from schemas.edges import LinkPosition

_TAGS = {
    "nav": LinkPosition.NAV,
    "header": LinkPosition.HEADER,
    "aside": LinkPosition.ASIDE,
    "footer": LinkPosition.FOOTER,
}
_ROLES = {
    "navigation": LinkPosition.NAV,
    "menu": LinkPosition.NAV,
    "menubar": LinkPosition.NAV,
    "directory": LinkPosition.NAV,
    "doc-toc": LinkPosition.NAV,
    "doc-index": LinkPosition.NAV,
    "doc-pagelist": LinkPosition.NAV,
    "search": LinkPosition.NAV,
    "banner": LinkPosition.HEADER,
    "complementary": LinkPosition.ASIDE,
    "contentinfo": LinkPosition.FOOTER,
}
_WORDS = {
    "nav": LinkPosition.NAV,
    "navbar": LinkPosition.NAV,
    "navigation": LinkPosition.NAV,
    "navheader": LinkPosition.NAV,
    "navfooter": LinkPosition.NAV,
    "topnav": LinkPosition.NAV,
    "subnav": LinkPosition.NAV,
    "bottomnav": LinkPosition.NAV,
    "menu": LinkPosition.NAV,
    "toc": LinkPosition.NAV,
    "toctree": LinkPosition.NAV,
    "breadcrumb": LinkPosition.NAV,
    "breadcrumbs": LinkPosition.NAV,
    "pagination": LinkPosition.NAV,
    "pager": LinkPosition.NAV,
    "related": LinkPosition.NAV,
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
    words = class_words(element.get("class") or "")
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
