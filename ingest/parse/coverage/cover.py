"""The account of one document: what its format lets a reader see, against what its fragment says."""

from collections.abc import Iterator

from ingest.parse.coverage.account import account
from ingest.parse.coverage.kept import kept_texts, stated_apart
from ingest.parse.secrets import find_in_texts, hiding_of
from schemas.errors import ParseError
from schemas.formats import DocumentFormat
from schemas.fragment import GraphFragment, ParseRequest
from schemas.redaction import REDACTED
from schemas.word_coverage import LeftOut, WordCoverage

NOINDEX = "asks not to be indexed"


def cover(
    found: DocumentFormat,
    data: bytes,
    request: ParseRequest,
    fragment: GraphFragment,
    left_out: LeftOut,
    *,
    hides: bool,
) -> WordCoverage | None:
    """Return what became of the words of a document; None where its format has no second way to read it.

    Args: hides: it has secrets, so that no word is told; in what is seen they are marked as in chunks.
    """
    if found.read_seen is None:
        return None
    try:
        seen = found.read_seen(data, request)
    except ParseError:  # what the parser could make sense of, and the simpler way not
        return None
    if any(REDACTED in chunk.text for chunk in fragment.chunks):
        seen = hiding_of(find_in_texts([seen])).everywhere(seen)
    return account(seen, kept_texts(fragment), _explained(fragment, seen, left_out), hides=hides)


def _explained(fragment: GraphFragment, seen: str, left_out: LeftOut) -> Iterator[tuple[str, str]]:
    if fragment.noindex:
        yield NOINDEX, seen
    yield from stated_apart(fragment)
    yield from left_out
