"""Markdown."""

from ingest.parse.formats.sniffing import is_prose, is_whole_page
from ingest.parse.secrets import find_in_source
from schemas.formats import DocumentFormat, ParseTools, media_type, never_names_access
from schemas.fragment import GraphFragment, ParseRequest

_SUFFIXES = (".md", ".markdown", ".mdx", ".mdown", ".mkd")
_TYPES = ("text/markdown", "text/x-markdown", "text/mdx")


def _recognise(head: bytes, content_type: str, name: str) -> bool:
    is_named = name.endswith(_SUFFIXES) or media_type(content_type) in _TYPES
    return is_named and is_prose(head, content_type) and not is_whole_page(head)


def _parse(data: bytes, request: ParseRequest, tools: ParseTools) -> GraphFragment:
    from ingest.parse.markdown.page import parse_markdown

    return parse_markdown(data, request, count_tokens=tools.count_tokens)


FORMAT = DocumentFormat(
    name="markdown",
    parse=_parse,
    recognise=_recognise,
    suffixes=(".md", ".markdown", ".mdx"),
    media_types=_TYPES,
    is_text=True,
    unread_secrets=find_in_source,
    names_access=never_names_access,
)
