"""Bytes of any kind of document > its fragment of the graph. Pure; runs in a child process under limits."""

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from ingest.parse.access import CLOSED, UNREAD, names_access_at_top
from ingest.parse.chunking import CountTokens
from ingest.parse.coverage.cover import cover
from ingest.parse.formats.registry import installed_formats
from ingest.urls import without_route
from schemas.errors import ParseError, UnsupportedMedia
from schemas.formats import DocumentFormat, ParseTools, document_name, find_format, media_type
from schemas.fragment import GraphFragment, ParseRequest
from schemas.nodes import DocumentKind, Section
from schemas.settings import extra_of, install_line

if TYPE_CHECKING:
    from ingest.parse.html.cleaning import RunHook
    from ingest.parse.pdf.page_cache import PageCache
    from ingest.parse.pdf.reading import Recognise

PARSER_VERSION: str = "25"
"""Part of what made a stored fragment; another one re-processes every document from its raw bytes."""


def parse_document(
    data: bytes,
    request: ParseRequest,
    *,
    count_tokens: CountTokens,
    recognise: "Recognise | None" = None,
    cache: "PageCache | None" = None,
    run_hook: "RunHook | None" = None,
) -> GraphFragment:
    """Parse one document by the first of the installed formats that recognises it.

    Secrets are hidden in all that the fragment says; a warning names their kinds.

    Args: count_tokens: word pieces of a text by the encoder's tokenizer, without special tokens;
    recognise: reads pages of PDFs without a text layer where the request names languages; cache: the pages of
    an earlier version of a PDF, takes up those of this one; run_hook: calls the hook that the request names.
    Raises: ParseError: empty, or not what it claims to be; UnsupportedMedia: of no format.
    """
    if not data.strip():
        raise ParseError("the document is empty", subject=request.uri)
    found = format_of(data, request)
    tools = ParseTools(count_tokens=count_tokens, recognise=recognise, page_cache=cache, run_hook=run_hook)
    fragment = _closed_where_named(_parse(found, data, request, tools), found, data, request)
    unread = found.unread_secrets(data)
    secrets = tuple(sorted((Counter(fragment.secrets) | Counter(unread)).elements()))
    coverage = cover(found, data, request, fragment, tools.left_out, hides=bool(secrets))
    fragment = _of_route(replace(fragment, coverage=coverage))
    if not secrets:
        return fragment
    counts = ", ".join(f"{number} {kind}" for kind, number in sorted(Counter(secrets).items()))
    return replace(fragment, secrets=secrets, warnings=(*fragment.warnings, f"secrets redacted: {counts}"))


def format_of(data: bytes, request: ParseRequest) -> DocumentFormat:
    """Return the format of a document. Raises: UnsupportedMedia: it is of none."""
    formats = installed_formats()
    name = document_name(request.path, request.url or request.uri)
    found = find_format(formats, data, content_type=request.content_type, name=name)
    if found is None:
        names = ", ".join(one.name for one in formats)
        told = media_type(request.content_type) or "no content type"
        raise UnsupportedMedia(
            f"of no format that is read here: {names} ({told}); exclude it from the source's scope",
            subject=request.uri,
        )
    return found


def _closed_where_named(
    fragment: GraphFragment, found: DocumentFormat, data: bytes, request: ParseRequest
) -> GraphFragment:
    """Let nobody see what names `access` and states no groups, but who sees everything."""
    names_access = found.names_access or (_text_names_access if found.is_text else None)
    if fragment.access or names_access is None or not names_access(data, request.content_type):
        return fragment
    return replace(fragment, access=CLOSED, warnings=(*fragment.warnings, UNREAD))


def _text_names_access(data: bytes, content_type: str | None) -> bool:
    from ingest.parse.html.charset import decode_html

    return names_access_at_top(decode_html(data, content_type))


def _parse(found: DocumentFormat, data: bytes, request: ParseRequest, tools: ParseTools) -> GraphFragment:
    try:
        fragment = found.parse(data, request, tools)
    except ModuleNotFoundError as error:
        if found.parse.__module__.partition(".")[0] != "ingest":  # another package's fault
            raise
        line = install_line(extra_of(error.name or "") or "light")
        needed = f"documents of format {found.name} need {error.name}; run: {line}"
        raise ParseError(needed, subject=request.uri) from error
    if fragment.uri != request.uri:
        wrong = f"the format {found.name} gave a fragment of {fragment.uri}"
        raise ParseError(f"{wrong}; report it to its author", subject=request.uri)
    return fragment


def _of_route(fragment: GraphFragment) -> GraphFragment:
    """Let a page that scripts make of a route be cited by that: behind `#` there is room for no second place.

    The address that it calls canonical is that of the page which all routes share.
    """
    if without_route(fragment.uri) == fragment.uri:
        return fragment
    nodes = [replace(node, fragment=None) if isinstance(node, Section) else node for node in fragment.nodes]
    chunks = [
        replace(chunk, fragment=None, fragments=(), text_fragment=None, round_trip=None)
        for chunk in fragment.chunks
    ]
    return replace(fragment, nodes=tuple(nodes), chunks=tuple(chunks), canonical=None)


_COMPARED = (40, 16)
"""Letters of a chunk that are looked for; fewer where markup, such as an address, stands among the first."""

_NO_WORD = re.compile(r"[\W_]+")


def with_line_fragments(fragment: GraphFragment, data: bytes, pattern: str) -> GraphFragment:
    """Give the line that it begins on, as *pattern* with `{line}` says it, to each chunk without a fragment.

    A chunk has the words of its lines without their markup, so that only letters and digits are compared; one
    whose first words stand nowhere keeps none. Lines count from 1.
    """
    if fragment.kind != DocumentKind.MARKDOWN:
        return fragment
    lines = [_NO_WORD.sub("", line) for line in data.decode("utf-8", errors="replace").splitlines()]
    starts, text = list(accumulate(map(len, lines), initial=0)), "".join(lines)
    chunks, at = [], 0
    for chunk in fragment.chunks:
        found = _find(text, _NO_WORD.sub("", chunk.text), at)
        if chunk.fragment is None and found is not None:
            line = bisect_right(starts, found)
            chunk = replace(chunk, fragment=pattern.format(line=line))  # noqa: PLW2901 - the same, but placed
        at = at if found is None else found
        chunks.append(chunk)
    return replace(fragment, chunks=tuple(chunks))


def _find(text: str, words: str, start: int) -> int | None:
    places = (text.find(words[:letters], start) for letters in _COMPARED)
    return next((place for place in places if place >= 0), None) if words else None
