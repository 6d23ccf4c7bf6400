"""Everything that can be said of one parse: the fragment, what was not read and why, which places hold."""

from dataclasses import dataclass

from ingest.parse.chunking import CountTokens
from ingest.parse.document import parse_document
from ingest.parse.html.cleaning import RunHook
from ingest.parse.html.trace import PageTrace, trace_html
from ingest.parse.pdf.opening import PagePicture, draw_pages
from ingest.parse.round_trip import RoundTrip, check_round_trips
from ingest.parse.secrets import find_in_texts, hiding_of
from schemas.fragment import GraphFragment, ParseRequest
from schemas.nodes import DocumentKind, PdfPage, PdfRegion
from schemas.redaction import REDACTED

DPI = 80
MOST_PICTURES = 200
"""Pages drawn: at about 100 KB each, as much as a browser likes to keep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """A parse and what was found out about it; `page` is of HTML, `round_trips` in the order of chunks."""

    fragment: GraphFragment
    round_trips: tuple[RoundTrip, ...]
    page: PageTrace | None = None
    pictures: tuple[PagePicture, ...] = ()


def inspect_document(
    data: bytes,
    request: ParseRequest,
    *,
    count_tokens: CountTokens,
    draw: bool,
    run_hook: RunHook | None = None,
) -> Inspection:
    """Parse a document as the pipeline does and look at it from all sides; *draw*: also as pictures of pages.

    Raises: ParseError, UnsupportedMedia: as `parse_document`.
    """
    fragment = parse_document(data, request, count_tokens=count_tokens, run_hook=run_hook)
    is_html, is_pdf = fragment.kind == DocumentKind.HTML, fragment.kind == DocumentKind.PDF
    return Inspection(
        fragment=fragment,
        round_trips=check_round_trips(fragment),
        page=_without_secrets(trace_html(data, request, run_hook=run_hook)) if is_html else None,
        pictures=tuple(draw_pages(data, _drawable(fragment), dpi=DPI)) if draw and is_pdf else (),
    )


def _without_secrets(page: PageTrace) -> PageTrace:
    secrets = find_in_texts(block.text for block in page.blocks)
    return hiding_of(secrets).everywhere(page) if secrets else page


def _drawable(fragment: GraphFragment) -> tuple[int, ...]:
    """The first pages, without those that contain a secret: a picture would show it."""
    regions = (node for node in fragment.nodes if isinstance(node, PdfRegion))
    secret = {region.page_no for region in regions if REDACTED in region.text}
    pages = (node.page_no for node in fragment.nodes if isinstance(node, PdfPage))
    return tuple(page_no for page_no in pages if page_no not in secret)[:MOST_PICTURES]
