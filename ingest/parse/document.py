"""Bytes of any kind of document > its fragment of the graph. Pure; runs in a child process under limits."""

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from ingest.parse.chunking import CountTokens
from ingest.parse.secrets import find_in_markup
from schemas.errors import ParseError, UnsupportedMedia
from schemas.fragment import GraphFragment, ParseRequest
from schemas.nodes import DocumentKind

if TYPE_CHECKING:
    from ingest.parse.html.cleaning import RunHook
    from ingest.parse.pdf.ocr import Recognise
    from ingest.parse.pdf.page_cache import PageCache

PARSER_VERSION: str = "10"
"""Part of what made a stored fragment; another one re-processes every document from its raw bytes."""

_HEAD = 1_024
_LOOK = 4_096
_MARKUP = re.compile(
    rb"<!doctype\s+html|<(?:html|head|title|body|meta|link|script|div|h[1-6]|p|table|a|span|ul|ol|pre|article|main|"
    rb"section|br|b|i|font|center|frameset|form|img|style|base|nav|header)[\s/>]",
    re.IGNORECASE,
)
_WHOLE_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html[\s>])", re.IGNORECASE
)
_MARKDOWN_SUFFIXES = (".md", ".markdown", ".mdown", ".mkd")
_NO_PROSE = frozenset(
    {"text/css", "text/javascript", "application/javascript", "application/json", "text/csv"}
)
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")


def parse_document(
    data: bytes,
    request: ParseRequest,
    *,
    count_tokens: CountTokens,
    recognise: "Recognise | None" = None,
    cache: "PageCache | None" = None,
    run_hook: "RunHook | None" = None,
) -> GraphFragment:
    """Parse one document as what its bytes say it is: PDF, else Markdown by its name, else HTML or text.

    Secrets are hidden in all that the fragment says; a warning names their kinds.

    Args: count_tokens: word pieces of a text by the encoder's tokenizer, without special tokens;
    recognise: reads pages of PDFs without a text layer where the request names languages; cache: the pages of
    an earlier version of a PDF, takes up those of this one; run_hook: calls the hook that the request names.
    Raises: ParseError: empty, or not what it claims to be; UnsupportedMedia: neither PDF nor text.
    """
    if not data.strip():
        raise ParseError("the document is empty", subject=request.uri)
    fragment = _parse(data, request, count_tokens, recognise, cache, run_hook)
    assert fragment.kind is not None  # only a file of tools has none
    unread = () if fragment.kind is DocumentKind.PDF else find_in_markup(data, fragment.kind)
    secrets = tuple(sorted((Counter(fragment.secrets) | Counter(unread)).elements()))
    if not secrets:
        return fragment
    counts = ", ".join(f"{number} {kind}" for kind, number in sorted(Counter(secrets).items()))
    return replace(fragment, secrets=secrets, warnings=(*fragment.warnings, f"secrets redacted: {counts}"))


def _parse(
    data: bytes,
    request: ParseRequest,
    count_tokens: CountTokens,
    recognise: "Recognise | None",
    cache: "PageCache | None",
    run_hook: "RunHook | None",
) -> GraphFragment:
    if b"%PDF-" in data[:_HEAD]:
        from ingest.parse.pdf.document import parse_pdf

        return parse_pdf(data, request, count_tokens=count_tokens, recognise=recognise, cache=cache)
    _require_text(data, request)
    if _is_markdown(data, request):
        from ingest.parse.markdown.page import parse_markdown

        return parse_markdown(data, request, count_tokens=count_tokens)
    if _MARKUP.search(data[:_LOOK].replace(b"\0", b"")):
        from ingest.parse.html.page import parse_html

        return parse_html(data, request, count_tokens=count_tokens, run_hook=run_hook)
    from ingest.parse.markdown.page import parse_plain_text

    return parse_plain_text(data, request, count_tokens=count_tokens)


def _require_text(data: bytes, request: ParseRequest) -> None:
    media = _media_type(request)
    wide = data.startswith(_WIDE_MARKS) or "utf-16" in (request.content_type or "").lower()
    if media in _NO_PROSE or (b"\0" in data[:_HEAD] and not wide and not _MARKUP.search(data[:_LOOK])):
        raise UnsupportedMedia(
            f"neither PDF nor HTML, Markdown or plain text ({media or 'no content type'}); "
            "exclude it from the source's scope",
            subject=request.uri,
        )


def _is_markdown(data: bytes, request: ParseRequest) -> bool:
    if _WHOLE_PAGE.match(data[:_LOOK]):
        return False
    name = (request.path or (request.url or request.uri).partition("?")[0]).lower()
    return name.endswith(_MARKDOWN_SUFFIXES) or _media_type(request) in {"text/markdown", "text/x-markdown"}


def _media_type(request: ParseRequest) -> str:
    return (request.content_type or "").partition(";")[0].strip().lower()
