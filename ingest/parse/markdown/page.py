"""A Markdown or plain text file as a whole."""

from dataclasses import replace

from ingest.parse.assembly import assemble_page
from ingest.parse.chunking import CountTokens
from ingest.parse.html.charset import decode_html
from ingest.parse.html.visibility import strip_invisible
from ingest.parse.links import collect_links
from ingest.parse.markdown.blocks import read_markdown
from ingest.parse.markdown.front_matter import split_front_matter
from ingest.parse.outline import Block, OutlineSection, build_outline, with_links
from ingest.parse.page_facts import PageFacts, file_name, folders
from schemas.fragment import GraphFragment, ParseRequest
from schemas.nodes import DocumentKind


def parse_markdown(data: bytes, request: ParseRequest, *, count_tokens: CountTokens) -> GraphFragment:
    """Turn a Markdown file into its fragment; what its front matter states wins over the request."""
    stated, body, warnings = split_front_matter(_decode(data, request), relations=request.relations)
    found = read_markdown(body, title=stated.title)
    collected = collect_links(found.links, base=request.uri)
    outline = with_links(build_outline(found.parts), collected.by_key)
    title = found.title or _first_heading(outline) or file_name(request)
    facts = PageFacts(
        kind=DocumentKind.MARKDOWN,
        title=title,
        template_type="markdown",
        breadcrumbs=(*folders(request), title),
        doc_id=stated.doc_id,
        names=stated.names,
        references=stated.references,
        modified=stated.modified,
        access=stated.access,
        warnings=(*warnings, *found.warnings, *collected.warnings),
    )
    said = replace(
        request,
        doc_type=stated.doc_type or request.doc_type,
        domain=stated.domain or request.domain,
        status=stated.status or request.status,
    )
    return assemble_page(outline, collected.links, request=said, facts=facts, count_tokens=count_tokens)


def parse_plain_text(data: bytes, request: ParseRequest, *, count_tokens: CountTokens) -> GraphFragment:
    """Turn a plain text file into a page of one section without heading."""
    text = _decode(data, request).replace("\r\n", "\n").strip()
    title = file_name(request)
    facts = PageFacts(
        kind=DocumentKind.MARKDOWN,
        title=title,
        template_type="text",
        breadcrumbs=(*folders(request), title),
        structure_confidence=0.5,
    )
    outline = build_outline([Block(text=text)])
    return assemble_page(outline, (), request=request, facts=facts, count_tokens=count_tokens)


def _decode(data: bytes, request: ParseRequest) -> str:
    """Text without byte-order mark and without the characters that no reader sees."""
    return strip_invisible(decode_html(data, request.content_type))


def _first_heading(outline: tuple[OutlineSection, ...]) -> str:
    return next((section.heading for section in outline if section.heading), "")
