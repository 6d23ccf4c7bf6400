"""Whether what a chunk cites is there: its text in its parent and in its box, its fragment in the page."""

import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from schemas.fragment import GraphFragment
from schemas.nodes import Chunk, DocumentKind, PdfRegion, Section
from schemas.redaction import REDACTED

_NAME = re.compile(rb"""\b(?:id|name)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_UNSEEN = "-\u00ad\u2010"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTrip:
    """What came of looking a chunk up where it says it stands.

    `in_parent`: its text is its section's or region's at its offsets. `at_place`: its text is on the page
    within its box, or its fragment is an id in the bytes; None where it names no such place, or a secret
    of the text was hidden.
    """

    chunk: str
    in_parent: bool
    at_place: bool | None = None

    @property
    def holds(self) -> bool:
        """Whether all that could be looked up was found."""
        return self.in_parent and self.at_place is not False


def check_round_trips(fragment: GraphFragment, data: bytes) -> tuple[RoundTrip, ...]:
    """Look up every chunk of a document in its parent, and in the bytes or on the page; in order."""
    parents = {node.id: node.text for node in fragment.nodes if isinstance(node, Section | PdfRegion)}
    wholes = [parents.get(chunk.section_id or chunk.region_id or "", "") for chunk in fragment.chunks]
    owns = [whole[slice(*chunk.offsets)] for whole, chunk in zip(wholes, fragment.chunks, strict=True)]
    places = _places(fragment, owns, data)
    return tuple(
        RoundTrip(chunk=chunk.id, in_parent=_is_in_parent(chunk, whole, own), at_place=place)
        for chunk, whole, own, place in zip(fragment.chunks, wholes, owns, places, strict=True)
    )


def _is_in_parent(chunk: Chunk, whole: str, own: str) -> bool:
    """A table's later parts repeat its header before what is theirs."""
    header = chunk.text.removesuffix(own).removesuffix("\n")
    return bool(own) and chunk.text.endswith(own) and header in whole


def _places(fragment: GraphFragment, owns: list[str], data: bytes) -> Iterator[bool | None]:
    if fragment.kind is DocumentKind.PDF:
        from ingest.parse.pdf.reading_back import texts_in_boxes

        found = texts_in_boxes(data, ((chunk.page_no, chunk.bbox) for chunk in fragment.chunks))
        for own, text in zip(owns, found, strict=True):
            yield None if REDACTED in own else squeezed(own) in squeezed(text)
    elif fragment.kind is DocumentKind.HTML:
        names = raw_names(data)
        yield from (None if chunk.fragment is None else chunk.fragment in names for chunk in fragment.chunks)
    else:
        # A Markdown file names no ids: they are made of its headings.
        yield from (None for _ in fragment.chunks)


def raw_names(data: bytes) -> frozenset[str]:
    """Values of `id` and `name` attributes in the bytes of a page, as written and percent-decoded.

    Found without the parser, whose work is what is looked at.
    """
    values = (next(filter(None, match.groups()), b"") for match in _NAME.finditer(data))
    texts = {html.unescape(value.decode("utf-8", "replace")) for value in values}
    return frozenset(texts | {unquote(text) for text in texts})


def squeezed(text: str) -> str:
    """Text as boxes are compared: NFKC, without white space, hyphens, and the controls of broken fonts."""
    plain = unicodedata.normalize("NFKC", text)
    return "".join(
        sign for sign in plain if sign not in _UNSEEN and sign.isprintable() and not sign.isspace()
    )
