"""What a reader sees of a PDF: the plain text of its pages, as MuPDF writes it by itself."""

import re
from collections.abc import Collection, Iterator
from typing import Any

from ingest.parse.pdf.opening import open_pdf, pdf_errors, raise_if_exhausted
from ingest.parse.wording import rest_of
from schemas.fragment import GraphFragment, ParseRequest
from schemas.nodes import PdfRegion, RegionType

_RUNNING = {RegionType.HEADER: "running header", RegionType.FOOTER: "running footer"}
CONTENTS = "line of a table of contents or an index"
NUMBER = "number of a heading"
UNSEEN = "invisible on the page"

_BROKEN = re.compile(r"([^\W\d_]+)[-\u2010]\n([^\W\d_]+)")

_INVISIBLE = 3
"""Text rendering mode of what is there to be searched and copied alone. Source: ISO 32000-1, 9.3.6."""


def read_pdf(data: bytes, request: ParseRequest) -> str:
    """Return the text layer of all pages, as far as it is inside. Raises: ParseError: it has none."""
    text = "\n".join(_per_page(data, request, _layer))
    words = set(text.lower().split())
    return _BROKEN.sub(lambda broken: _joined(broken, words), text)


def _joined(broken: re.Match[str], words: Collection[str]) -> str:
    """Join a word that a line's end breaks, if the document has it elsewhere."""
    return "\u00ad".join(broken.groups()) if "".join(broken.groups()).lower() in words else broken[0]


def unseen_text(data: bytes, request: ParseRequest) -> str:
    """Return the text that is in the layer and that no page shows."""
    return "\n".join(_per_page(data, request, _unseen))


def _layer(page: Any) -> str:
    whole = page.cropbox == page.mediabox
    return str(page.get_text("text") if whole else page.get_text("text", clip=page.rect))


def _unseen(page: Any) -> str:
    spans = (span for span in page.get_texttrace() if span["type"] == _INVISIBLE or not span["opacity"])
    return "\n".join("".join(map(chr, (char[0] for char in span["chars"]))) for span in spans)


def _per_page(data: bytes, request: ParseRequest, read: Any) -> Iterator[str]:
    with open_pdf(data, subject=request.uri) as document:
        for index in range(document.page_count):
            try:
                yield read(document[index])
            except pdf_errors() as error:  # a page that cannot be read is left out by the parser, too
                raise_if_exhausted(error)


def regions_apart(fragment: GraphFragment) -> Iterator[tuple[str, str]]:
    """Yield the texts of regions that have no chunk, with the reason."""
    with_chunk = {chunk.region_id for chunk in fragment.chunks}
    for node in fragment.nodes:
        if isinstance(node, PdfRegion) and node.id not in with_chunk:
            if node.region_type is RegionType.HEADING:
                yield NUMBER, rest_of(node.text, " ".join(node.heading_path[-1:]))
            elif node.region_type is not RegionType.FORMULA:  # the text around one says it
                yield _RUNNING.get(node.region_type, CONTENTS), node.text
