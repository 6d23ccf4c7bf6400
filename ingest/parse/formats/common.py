"""The formats with rooms of their own: HTML, PDF, Markdown and plain text."""

from ingest.parse.access import names_access_in_markup
from ingest.parse.formats.sniffing import XML_TYPES, has_markup, is_prose, is_whole_page
from ingest.parse.pdf.opening import MAGIC_WINDOW
from ingest.parse.secrets import find_in_markup, find_in_source
from schemas.formats import DocumentFormat, ParseTools, SizeClass, media_type, never_names_access
from schemas.fragment import GraphFragment, ParseRequest


def _is_html(head: bytes, content_type: str, _name: str) -> bool:
    return is_prose(head, content_type) and has_markup(head)


def _parse_html(data: bytes, request: ParseRequest, tools: ParseTools) -> GraphFragment:
    from ingest.parse.html.page import parse_html

    return parse_html(
        data, request, count_tokens=tools.count_tokens, run_hook=tools.run_hook, left_out=tools.left_out
    )


def _html_names_access(data: bytes, content_type: str | None) -> bool:
    from ingest.parse.html.charset import decode_html

    return names_access_in_markup(decode_html(data, content_type))


HTML = DocumentFormat(
    name="html",
    parse=_parse_html,
    recognise=_is_html,
    suffixes=(".html", ".htm"),
    media_types=("text/html", "application/xhtml+xml", *XML_TYPES),
    is_text=True,
    unread_secrets=find_in_markup,
    names_access=_html_names_access,
    end=b"</html>",
)


def _is_pdf(head: bytes, _content_type: str, _name: str) -> bool:
    return b"%PDF-" in head[:MAGIC_WINDOW]


def _parse_pdf(data: bytes, request: ParseRequest, tools: ParseTools) -> GraphFragment:
    from ingest.parse.pdf.document import parse_pdf

    return parse_pdf(
        data, request, count_tokens=tools.count_tokens, recognise=tools.recognise, cache=tools.page_cache
    )


def _pdf_names_access(data: bytes, _content_type: str | None) -> bool:
    from ingest.parse.pdf.metadata import metadata_names_access

    return metadata_names_access(data)


PDF = DocumentFormat(
    name="pdf",
    parse=_parse_pdf,
    recognise=_is_pdf,
    suffixes=(".pdf",),
    media_types=("application/pdf", "application/x-pdf"),
    size=SizeClass.PDF,
    end=b"%%EOF",
    has_pictures=True,
    names_access=_pdf_names_access,
)


_MARKDOWN_SUFFIXES = (".md", ".markdown", ".mdx", ".mdown", ".mkd")
_MARKDOWN_TYPES = ("text/markdown", "text/x-markdown", "text/mdx")


def _is_markdown(head: bytes, content_type: str, name: str) -> bool:
    is_named = name.endswith(_MARKDOWN_SUFFIXES) or media_type(content_type) in _MARKDOWN_TYPES
    return is_named and is_prose(head, content_type) and not is_whole_page(head)


def _parse_markdown(data: bytes, request: ParseRequest, tools: ParseTools) -> GraphFragment:
    from ingest.parse.markdown.page import parse_markdown

    return parse_markdown(data, request, count_tokens=tools.count_tokens)


MARKDOWN = DocumentFormat(
    name="markdown",
    parse=_parse_markdown,
    recognise=_is_markdown,
    suffixes=(".md", ".markdown", ".mdx"),
    media_types=_MARKDOWN_TYPES,
    is_text=True,
    unread_secrets=find_in_source,
    names_access=never_names_access,
)


def _is_plain_text(head: bytes, content_type: str, _name: str) -> bool:
    return is_prose(head, content_type)


def _parse_plain_text(data: bytes, request: ParseRequest, tools: ParseTools) -> GraphFragment:
    from ingest.parse.markdown.page import parse_plain_text

    return parse_plain_text(data, request, count_tokens=tools.count_tokens)


PLAIN_TEXT = DocumentFormat(
    name="text",
    parse=_parse_plain_text,
    recognise=_is_plain_text,
    suffixes=(".txt",),
    media_types=("text/plain",),
    is_text=True,
    unread_secrets=find_in_source,
)
