"""Documents that are read as markup made of them: all of it is content, and nothing around it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lxml.html import HtmlElement

from ingest.parse.assembly import assemble_page
from ingest.parse.chunking import CountTokens
from ingest.parse.html.blocks import read_blocks
from ingest.parse.html.content import page_body
from ingest.parse.html.dom import parse_tree, survey_tree
from ingest.parse.html.family import Shape
from ingest.parse.html.inline import inline_text, is_permalink
from ingest.parse.links import FoundLink, collect_links
from ingest.parse.outline import Part, build_outline, with_links
from ingest.parse.page_facts import PageFacts, PagePart, file_name, folders
from schemas.dates import Dated
from schemas.edges import LinkPosition
from schemas.fragment import GraphFragment, ParseRequest

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


def read_body(markup: str, *, subject: str, shape: Shape = SHAPE) -> ConvertedBody:
    """Read all of the body of a page that was made of a document. Raises: ParseError: no element in it."""
    return read_tree(parse_tree(markup, subject=subject), shape=shape)


def read_tree(root: HtmlElement, *, shape: Shape = SHAPE) -> ConvertedBody:
    """Read all of the body of a tree."""
    for link in list(root.iter("a")):
        if link.text_content().strip().startswith(_BACK):
            link.drop_tree()
    parts = read_blocks(page_body(root), survey_tree(root), shape, keep_chrome=True)
    return ConvertedBody(parts=tuple(parts), links=tuple(_links(root)), root=root)


def assemble_document(
    parts: tuple[Part, ...],
    links: tuple[FoundLink, ...],
    *,
    request: ParseRequest,
    kind: str,
    title: str = "",
    lang: str | None = None,
    modified: Dated | None = None,
    warnings: tuple[str, ...] = (),
    pages: tuple[PagePart, ...] = (),
    count_tokens: CountTokens,
) -> GraphFragment:
    """Return the fragment of a document; without a title, it has its first heading's or its file's name.

    Args: pages: what *parts* has a `PageStart` for, each.
    """
    collected = collect_links(links, base=request.uri)
    outline = with_links(build_outline(parts), collected.by_key)
    title = title or next((one.heading for one in outline if one.heading), "") or file_name(request)
    facts = PageFacts(
        kind=kind,
        title=title,
        template_type=kind,
        breadcrumbs=(*folders(request), title),
        lang=lang,
        modified=modified,
        warnings=(*warnings, *collected.warnings),
        parts=pages,
    )
    return assemble_page(outline, collected.links, request=request, facts=facts, count_tokens=count_tokens)


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
