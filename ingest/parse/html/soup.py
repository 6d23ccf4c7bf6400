"""A page as a BeautifulSoup and back, element by element; imported only where pages are cleaned.

The way back writes no markup: that would be parsed, and what libxml2 repaired repaired again.
"""

import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice

import soupsieve
from bs4 import BeautifulSoup
from bs4.element import NavigableString, PageElement, PreformattedString, Tag
from bs4.exceptions import ParserRejectedMarkup
from lxml import etree
from lxml.html import HtmlElement, HTMLParser

from ingest.parse.html.dom import HEADING_LEVELS, settle_tree
from schemas.errors import ParseError

_HTML = HTMLParser(encoding="utf-8")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What lxml takes into no tree by hand: control characters and surrogates."""

_SPACED = frozenset({"html", "pre", "textarea"})
"""Where white space stays: everywhere, since trafilatura finds other content where bs4 closes it up."""

_HEADINGS = list(HEADING_LEVELS)
_MARKS = frozenset({"a", "span"})
"""Elements that may be there for their id alone."""


def parse_soup(markup: str, *, subject: str) -> BeautifulSoup:
    """Parse decoded markup with libxml2, as `parse_tree` does.

    Raises: ParseError: there is no element in it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bs4 wonders at XHTML, and at pages as short as a file name
        try:
            soup = BeautifulSoup(
                markup.encode("utf-8", "replace").decode(), "lxml", preserve_whitespace_tags=_SPACED
            )
        except ParserRejectedMarkup as error:
            raise ParseError("no element found; is this HTML?", subject=subject) from error
    if soup.find(True) is None:
        raise ParseError("no element found; is this HTML?", subject=subject)
    return soup


def selector_refusal(css: str) -> str | None:
    """Say in one line what is wrong with a selector; None where it is one."""
    try:
        soupsieve.compile(css)
    except soupsieve.SelectorSyntaxError as error:
        return str(error).partition("\n")[0]
    return None


def tree_of(soup: BeautifulSoup, *, uri: str = "") -> tuple[HtmlElement, dict[int, HtmlElement]]:
    """Return the tree that `parse_tree` would give of *uri*, and its elements by `id()` of their tags."""
    tops = [child for child in soup.children if isinstance(child, Tag)]
    is_whole = len(tops) == 1 and tops[0].name == "html"
    first = tops[0] if is_whole else soup
    root = _HTML.makeelement("html")
    _set(root, tops[0] if is_whole else None)
    elements = {id(first): root}
    stack: list[tuple[Tag, HtmlElement]] = [(first, root)]
    while stack:
        tag, element = stack.pop()
        last: HtmlElement | None = None
        for child in tag.children:
            if isinstance(child, Tag):
                last = elements[id(child)] = _append(element, child)
                stack.append((child, last))
            elif not isinstance(child, PreformattedString):  # comments and the like
                text = _NOT_XML.sub(" ", str(child))
                if last is None:
                    element.text = (element.text or "") + text
                else:
                    last.tail = (last.tail or "") + text
    root.getroottree().docinfo.URL = uri
    settle_tree(root)
    return root, elements


def _append(parent: HtmlElement, tag: Tag) -> HtmlElement:
    try:
        element = etree.SubElement(parent, tag.name)
    except ValueError:  # a name such as `div<p`, which libxml2 lets pass
        element = etree.SubElement(parent, "span")
    _set(element, tag)
    return element


def _set(element: HtmlElement, tag: Tag | None) -> None:
    for name, value in () if tag is None else tag.attrs.items():
        text = " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value or "")
        try:
            element.set(str(name), _NOT_XML.sub(" ", text))
        except ValueError:
            continue


def tag_id(tag: Tag) -> str | None:
    """The id of a tag, or the name of an `a`."""
    name = tag.get("id") or (tag.get("name") if tag.name == "a" else None)
    return name if isinstance(name, str) and name.split() == [name] else None


class Anchors:
    """The ids of a page and where they stand, to be put back where their place outlasts them.

    What takes off a wrapper, or the sign beside a heading, takes the id along that links lead to.
    """

    def __init__(self, soup: BeautifulSoup) -> None:
        self._places: dict[str, tuple[Tag, tuple[PageElement, ...]]] = {}
        for tag in soup.find_all(True):
            name = tag_id(tag)
            if name is not None and name not in self._places:
                self._places[name] = (tag, tuple(_places_of(tag)))

    def restore(self, soup: BeautifulSoup) -> None:
        """Put lost ids back: on their own tag, else on a mark right before what they stood before."""
        names = {tag_id(tag) for tag in soup.find_all(True)}
        lost = [name for name in self._places if name not in names]
        alive = {id(node) for node in soup.descendants} if lost else set()
        for name in lost:
            tag, places = self._places[name]
            if id(tag) in alive and tag_id(tag) is None:
                tag["id"] = name
            elif place := next((place for place in places if id(place) in alive), None):
                place.insert_before(soup.new_tag("a", id=name))


def _places_of(tag: Tag) -> Iterator[PageElement]:
    """What an id stands before: the first text of its tag, or rather the heading that the tag begins with.

    Of what may be a mere mark, also the text of the heading that it stands in, or else what follows.
    """
    inside = next(_texts(tag.descendants), None)
    if inside is not None:
        heading = inside.find_parent(_HEADINGS)
        if heading is not None and any(above is tag for above in heading.parents):
            yield heading
        yield inside
    if tag.name in _MARKS:
        around = tag.find_parent(_HEADINGS)
        if around is not None:
            yield from _texts(around.descendants)
        elif inside is None:
            yield from islice(_texts(tag.next_elements), 1)


def _texts(nodes: Iterator[PageElement]) -> Iterator[NavigableString]:
    for node in nodes:
        if isinstance(node, NavigableString) and not isinstance(node, PreformattedString) and node.strip():
            yield node


def outermost(tags: Sequence[Tag]) -> list[Tag]:
    """Return the tags without those that stand in another, and without repeats, in the order given."""
    chosen = {id(tag) for tag in tags}
    alone = (tag for tag in tags if not any(id(above) in chosen for above in tag.parents))
    return list({id(tag): tag for tag in alone}.values())


def keep_only(tags: Sequence[Tag]) -> tuple[Tag, list[Tag]]:
    """Take everything but *tags*, several of which none stands in another, out of what is around all of them.

    Gives that element, and those between it and the tags.
    """
    paths = [[tag, *tag.parents] for tag in tags]
    shared = set.intersection(*({id(node) for node in path[1:]} for path in paths))
    around = next(node for node in paths[0] if id(node) in shared)
    kept = {id(tag) for tag in tags}
    between = {id(node): node for path in paths for node in path[1:] if id(node) not in shared}
    for parent in (around, *between.values()):
        for child in list(parent.children):
            if id(child) not in kept and id(child) not in between:
                child.extract()
    return around, list(between.values())
