"""The account of one document: what its format lets a reader see, against what its fragment says."""

from collections.abc import Iterator
from importlib import import_module

from ingest.parse.coverage.account import account
from ingest.parse.coverage.kept import kept_texts, stated_apart
from ingest.parse.secrets import find_in_texts, hiding_of
from schemas.errors import ParseError
from schemas.formats import DocumentFormat
from schemas.fragment import GraphFragment, ParseRequest
from schemas.nodes import DocumentKind
from schemas.redaction import REDACTED
from schemas.word_coverage import UnreadWords, WordCoverage

_READERS = {
    "html": ("html", "read_page"),
    "pdf": ("pdf", "read_pdf"),
    "markdown": ("files", "read_markdown"),
    "text": ("files", "read_text"),
    "notebook": ("files", "read_notebook"),
    "docx": ("files", "read_docx"),
    "epub": ("files", "read_epub"),
}
"""Module and function that give the text of a format as a reader sees it, by another way than its parser."""

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
    module, name = _READERS[found.name]
    try:
        # Imported when needed: the libraries of one format are not those of another.
        seen = getattr(import_module(f"{__package__}.{module}"), name)(data, request)
    except ParseError:  # what the parser could make sense of, and the simpler way not
        return None
    if any(REDACTED in chunk.text for chunk in fragment.chunks):
        seen = hiding_of(find_in_texts([seen])).everywhere(seen)
    return account(
        seen, kept_texts(fragment), _explained(data, request, fragment, seen, left_out), hides=hides
    )


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
