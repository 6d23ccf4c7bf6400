"""Documents that are read as markup made of them: all of it is content, and nothing around it."""

from ingest.parse.assembly import assemble_page
from ingest.parse.chunking import CountTokens
from ingest.parse.html.dom import parse_tree
from ingest.parse.html.family import Shape
from ingest.parse.html.whole import SHAPE, ConvertedBody, read_tree
from ingest.parse.links import FoundLink, collect_links
from ingest.parse.outline import Part, build_outline, with_links
from ingest.parse.page_facts import PageFacts, PagePart, file_name, folders
from schemas.dates import Dated
from schemas.fragment import GraphFragment, ParseRequest


def read_body(markup: str, *, subject: str, shape: Shape = SHAPE) -> ConvertedBody:
    """Read all of the body of a page that was made of a document. Raises: ParseError: no element in it."""
    return read_tree(parse_tree(markup, subject=subject), shape=shape)


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
