"""PDF."""

from schemas.formats import DocumentFormat, ParseTools, SizeClass
from schemas.fragment import GraphFragment, ParseRequest

_WINDOW = 1_024
"""`%PDF-` may stand anywhere in it (ISO 32000-1, annex H, note 13)."""


def _recognise(head: bytes, _content_type: str, _name: str) -> bool:
    return b"%PDF-" in head[:_WINDOW]


def _parse(data: bytes, request: ParseRequest, tools: ParseTools) -> GraphFragment:
    from ingest.parse.pdf.document import parse_pdf

    return parse_pdf(
        data, request, count_tokens=tools.count_tokens, recognise=tools.recognise, cache=tools.page_cache
    )


def _names_access(data: bytes, _content_type: str | None) -> bool:
    from ingest.parse.pdf.metadata import metadata_names_access

    return metadata_names_access(data)


FORMAT = DocumentFormat(
    name="pdf",
    parse=_parse,
    recognise=_recognise,
    suffixes=(".pdf",),
    media_types=("application/pdf", "application/x-pdf"),
    size=SizeClass.PDF,
    end=b"%%EOF",
    has_pictures=True,
    names_access=_names_access,
)
