"""Members of a type as rustdoc writes them: which elements hold one, its name, since when it is there."""

import re
from collections.abc import Iterator
from itertools import islice, takewhile

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.dom import HEADING_LEVELS, class_words, normal_space
from ingest.parse.html.family import Shape, is_chrome

_REPEATED = "trait-impl"
"""Class of what a trait declares and its implementation repeats, with a link to where it is said.

Blanket implementations stand on the page of every type: as entries they would be most of an index.
"""

_SINCE = "since"
_NEAR = 8
_COUNTED = re.compile(r"-\d+$")
"""What rustdoc appends to an id that the page has already."""


def member_in(element: HtmlElement, shape: Shape) -> HtmlElement | None:
    """Return the element with the id of the member that *element*, a fold-out or declaration, is; or None."""
    if not shape.signatures or element.tag not in {"details", "section", "div"}:
        return None
    if element.tag == "details":
        summary = element.find("summary")
        declared = () if summary is None else summary.iterchildren("section", "div")
        return next((one for one in declared if _declares(one, shape)), None)
    around = element.getparent()
    folded = around is not None and around.tag == "summary"
    return element if not folded and _declares(element, shape) else None


def member_name(id_: str) -> str:
    """Return `new` for the id `method.new` or `method.new-1`."""
    return _COUNTED.sub("", id_.rpartition(".")[2])


def since_when(heading: HtmlElement, shape: Shape) -> str:
    """Return since when there is what a heading names, as stated in or beside it; "" if nowhere."""
    beside = (one for one in _beside(heading) if is_chrome(one, shape))
    stated = (node for one in (heading, *beside) for node in _classed(one, _SINCE))
    found = next(stated, None)
    return "" if found is None else normal_space(found.get("title") or "".join(found.itertext()))


def _beside(heading: HtmlElement) -> Iterator[HtmlElement]:
    """Elements behind a heading, then before it, as far as the next heading."""
    for siblings in (heading.itersiblings(), heading.itersiblings(preceding=True)):
        yield from takewhile(lambda one: one.tag not in HEADING_LEVELS, islice(siblings, _NEAR))


def _declares(element: HtmlElement, shape: Shape) -> bool:
    words = class_words(element.get("class") or "")
    if not element.get("id") or "impl" in words or _REPEATED in words:
        return False
    headings = element.iterchildren(*HEADING_LEVELS)
    return any(not shape.signatures.isdisjoint(class_words(one.get("class") or "")) for one in headings)


def _classed(element: HtmlElement, word: str) -> Iterator[HtmlElement]:
    return (node for node in element.iter(etree.Element) if word in class_words(node.get("class") or ""))
