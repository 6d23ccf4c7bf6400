"""Markup that was made of a document: all of its body is content, and nothing stands around it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lxml.html import HtmlElement

from ingest.parse.html.blocks import read_blocks
from ingest.parse.html.content import page_body
from ingest.parse.html.dom import survey_tree
from ingest.parse.html.family import Shape
from ingest.parse.html.inline import inline_text, is_permalink
from ingest.parse.links import FoundLink
from ingest.parse.outline import Part
from schemas.edges import LinkPosition

SHAPE = Shape(containers=())
SECTIONED = Shape(containers=(), section_anchor=True)
"""The id of a section lies on the element around its heading."""

_NAMED = 5
"""Files by name that one warning has."""

_BACK = ("↑", "↩")
"""With what the text of a link begins that leads from a note back to where it is cited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedBody:
    """What stands in markup: parts in reading order, links as written, and the tree."""

    parts: tuple[Part, ...]
    links: tuple[FoundLink, ...]
    root: HtmlElement


def read_tree(root: HtmlElement, *, shape: Shape = SHAPE) -> ConvertedBody:
    """Read all of the body of a tree."""
    for link in list(root.iter("a")):
        if link.text_content().strip().startswith(_BACK):
            link.drop_tree()
    parts = read_blocks(page_body(root), survey_tree(root), shape, keep_chrome=True)
    return ConvertedBody(parts=tuple(parts), links=tuple(_links(root)), root=root)


def say_missing(included: Sequence[str]) -> Iterator[str]:
    """Say which files a document takes in, that are not read with it."""
    if included:
        more = f" and {len(included) - _NAMED} more" if len(included) > _NAMED else ""
        yield f"files that it takes in are not read: {', '.join(included[:_NAMED])}{more}"


def _links(root: HtmlElement) -> Iterator[FoundLink]:
    for link in root.iter("a"):
        href, text = link.get("href"), inline_text(link)
        if href is not None and link.get("role") != "doc-backlink" and not is_permalink(link):
            yield FoundLink(href, text, LinkPosition.BODY, key=link)
