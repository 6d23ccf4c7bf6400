"""The account of one document: what a reader sees of it, against what its chunks say."""

from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import chain
from typing import Any

from ingest.parse.coverage.account import account
from ingest.parse.page_kind import NO_PASSAGES
from ingest.parse.secrets import find_in_texts, hiding_of
from schemas.errors import ParseError
from schemas.formats import DocumentFormat
from schemas.fragment import Explained, GraphFragment, ParseRequest, UnreadWords, WordCoverage
from schemas.nodes import Chunk, DocumentKind, PdfRegion, RegionType, Section
from schemas.redaction import REDACTED


def kept_texts(fragment: GraphFragment) -> Iterator[str]:
    """Yield headings and chunks in reading order, without what a chunk repeats of another.

    A heading counts once, over all chunks in whose path it stands.
    """
    nodes = {node.id: node for node in fragment.nodes if isinstance(node, Section | PdfRegion)}
    said: set[str] = set()
    for chunk in fragment.chunks:
        own = nodes.get(chunk.section_id or chunk.region_id or "")
        said.add(chunk.region_id or "")
        for id_ in (*chunk.parent_ids, chunk.section_id or ""):
            over = nodes.get(id_)
            if isinstance(over, Section) and id_ not in said:
                said.add(id_)
                if over.heading in chunk.heading_path and not (over is own and over.text == over.heading):
                    yield over.heading
        yield own_text(chunk, own.text if own is not None else "")
    paths = {name for chunk in fragment.chunks for name in chunk.heading_path}
    for node in nodes.values():
        if isinstance(node, PdfRegion) and node.region_type is RegionType.HEADING:
            yield from (name for name in node.heading_path[-1:] if name in paths and node.id not in said)


def own_text(chunk: Chunk, parent: str) -> str:
    """Return what a chunk says without the header of a table, or the title of a note, that it repeats."""
    start, end = chunk.offsets
    own = parent[start:end]
    repeated = chunk.text.find(f"\n{own}") if own and not chunk.text.startswith(own) else -1
    return chunk.text[repeated + 1 :]


def stated_apart(fragment: GraphFragment) -> Iterator[tuple[str, str]]:
    """Yield what a fragment has outside of its chunks, with the reason."""
    with_chunk = {chunk.section_id for chunk in fragment.chunks}
    silent = any(warning.endswith(NO_PASSAGES) for warning in fragment.warnings)
    for node in fragment.nodes:
        if not isinstance(node, Section):
            continue
        if node.number:
            yield "number of a heading", node.number
        if node.text == node.heading and node.id in with_chunk:
            yield "text that says its heading again", node.heading
        if silent and node.id not in with_chunk:
            yield NO_PASSAGES, f"{node.heading}\n{node.text}" if node.text != node.heading else node.text


_READERS = {
    "html": ("files", "read_page"),
    "pdf": ("pdf", "read_pdf"),
    "markdown": ("files", "markdown_words"),
    "text": ("files", "read_text"),
    "notebook": ("files", "read_notebook"),
    "docx": ("files", "read_docx"),
    "pptx": ("files", "read_pptx"),
    "xlsx": ("files", "read_xlsx"),
    "epub": ("files", "read_epub"),
    "asciidoc": ("sources", "asciidoc_words"),
    "rst": ("sources", "rst_words"),
    "man": ("sources", "man_words"),
    "info": ("sources", "info_words"),
    "openapi": ("sources", "openapi_words"),
}
"""Module and function that give the text of a format as a reader sees it, by another way than its parser."""

_APART = {
    "asciidoc": ("sources", "asciidoc_apart"),
    "rst": ("sources", "rst_apart"),
}
"""Module and function that give what a format may leave out of that text, with the reasons."""

NOINDEX = "asks not to be indexed"


def cover(
    found: DocumentFormat,
    data: bytes,
    request: ParseRequest,
    fragment: GraphFragment,
    left_out: UnreadWords,
    *,
    hides: bool,
) -> WordCoverage | None:
    """Return what became of the words of a document; None where its format has no second way to read it.

    Args: hides: it has secrets, so that no word is told; in what is seen they are marked as in chunks.
    """
    if found.name not in _READERS:
        return None
    try:
        seen = _named(*_READERS[found.name])(data, request)
    except ParseError:  # what the parser could make sense of, and the simpler way not
        return None
    if any(REDACTED in chunk.text for chunk in fragment.chunks):
        seen = hiding_of(find_in_texts([seen])).everywhere(seen)
    told = chain(_explained(data, request, fragment, seen, left_out), _apart(found, data, request))
    return account(seen, kept_texts(fragment), told, hides=hides)


def _named(module: str, name: str) -> Callable[..., Any]:
    """Import a function when needed: the libraries of one format are not those of another."""
    function: Callable[..., Any] = getattr(import_module(f"{__package__}.{module}"), name)
    return function


def _apart(found: DocumentFormat, data: bytes, request: ParseRequest) -> Explained:
    if found.name in _APART:
        yield from _named(*_APART[found.name])(data, request)


def _explained(
    data: bytes, request: ParseRequest, fragment: GraphFragment, seen: str, left_out: UnreadWords
) -> Iterator[tuple[str, str]]:
    if fragment.noindex:
        yield NOINDEX, seen
    yield from stated_apart(fragment)
    yield from left_out
    if fragment.kind == DocumentKind.PDF:
        from ingest.parse.coverage.pdf import UNSEEN, regions_apart, unseen_text

        yield from regions_apart(fragment)
        if any(warning.startswith("hidden text") for warning in fragment.warnings):
            yield UNSEEN, unseen_text(data, request)
