"""Markup made of a document: all of it is content, and it becomes the graph of a page."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lxml.etree import XPath
from lxml.html import HtmlElement

from ingest.parse.assembly import assemble_page
from ingest.parse.chunking import CountTokens
from ingest.parse.html.blocks import read_blocks
from ingest.parse.html.charset import decode_html
from ingest.parse.html.content import page_body
from ingest.parse.html.dom import parse_tree, survey_tree
from ingest.parse.html.family import Shape
from ingest.parse.html.inline import inline_text, is_permalink
from ingest.parse.html.visibility import strip_invisible
from ingest.parse.links import FoundLink, collect_links
from ingest.parse.outline import Part, build_outline, first_heading, with_links
from ingest.parse.page_graph import PageFacts, PagePart, file_name, folders
from ingest.parse.wording import SIGNS_MEET
from schemas.edges import LinkPosition
from schemas.formats import ParseTools
from schemas.fragment import GraphFragment, ParseRequest

SHAPE = Shape(containers=())
SECTIONED = Shape(containers=(), section_anchor=True)
"""The id of a section lies on the element around its heading."""

_NAMED = 5
"""Files by name that one warning has."""

_BROKEN_TEXTS = XPath("//text()[contains(., '\n')][not(ancestor::pre)]")
"""Texts of several lines; those of code stay."""

_CONTROLS = dict.fromkeys((*range(9), 0xB, 0xC, *range(0xE, 0x20)))
"""Characters that no tree may be given, though markup that has them can be read."""

_BACK = ("↑", "↩")
"""With what the text of a link begins that leads from a note back to where it is cited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedBody:
    """What stands in markup: parts in reading order, and links as written."""

    parts: tuple[Part, ...]
    links: tuple[FoundLink, ...]


def read_tree(root: HtmlElement, *, shape: Shape = SHAPE) -> ConvertedBody:
    """Read all of the body of a tree."""
    for link in list(root.iter("a")):
        if link.text_content().strip().startswith(_BACK):
            link.drop_tree()
    _join_signs(root)
    parts = read_blocks(page_body(root), survey_tree(root), shape, keep_chrome=True)
    return ConvertedBody(parts=tuple(parts), links=tuple(_links(root)))


def decode_text(data: bytes, request: ParseRequest) -> str:
    """Return text without byte-order mark and without the characters that no reader sees."""
    return strip_invisible(decode_html(data, request.content_type))


def assemble_markup(
    markup: str, request: ParseRequest, tools: ParseTools, *, kind: str, warnings: Iterable[str] = ()
) -> GraphFragment:
    """Return the fragment of a document of which *markup* is the body."""
    body = read_tree(parse_tree(f"<html><body>{markup}</body></html>", subject=request.uri))
    return assemble_document(
        body.parts,
        body.links,
        request=request,
        kind=kind,
        warnings=tuple(warnings),
        count_tokens=tools.count_tokens,
    )


def _join_signs(root: HtmlElement) -> None:
    for text in _BROKEN_TEXTS(root):
        joined, holder = SIGNS_MEET.sub("", text).translate(_CONTROLS), text.getparent()
        if text.is_tail:
            holder.tail = joined
        else:
            holder.text = joined


def say_missing(included: Sequence[str]) -> Iterator[str]:
    """Say which files a document takes in, that are not read with it."""
    if included:
        more = f" and {len(included) - _NAMED} more" if len(included) > _NAMED else ""
        yield f"files that it takes in are not read: {', '.join(included[:_NAMED])}{more}"


def _links(root: HtmlElement) -> Iterator[FoundLink]:
    for link in root.iter("a"):
        shown = (picture.get("alt") for picture in link.iter("img"))
        href, text = link.get("href"), inline_text(link) or next(filter(None, shown), "")
        if href is not None and link.get("role") != "doc-backlink" and not is_permalink(link):
            yield FoundLink(href, text, LinkPosition.BODY, key=link)


def assemble_document(
    parts: tuple[Part, ...],
    links: tuple[FoundLink, ...],
    *,
    request: ParseRequest,
    kind: str,
    title: str = "",
    warnings: tuple[str, ...] = (),
    pages: tuple[PagePart, ...] = (),
    count_tokens: CountTokens,
    **stated: Any,
) -> GraphFragment:
    """Return the fragment of a document; without a title, it has its first heading's or its file's name.

    Args: pages: what *parts* has a `PageStart` for, each; stated: further fields of `PageFacts`.
    """
    collected = collect_links(links, base=request.uri)
    outline = with_links(build_outline(parts), collected.by_key)
    title = title or first_heading(outline) or file_name(request)
    facts = PageFacts(
        kind=kind,
        title=title,
        breadcrumbs=(*folders(request), title),
        warnings=(*warnings, *collected.warnings),
        parts=pages,
        **{"template_type": kind, **stated},
    )
    return assemble_page(outline, collected.links, request=request, facts=facts, count_tokens=count_tokens)
