"""Plain text, which is whatever text no other format takes; its documents are of the kind `markdown`."""

from ingest.parse.formats.sniffing import is_prose
from ingest.parse.secrets import find_in_source
from schemas.formats import DocumentFormat, ParseTools
from schemas.fragment import GraphFragment, ParseRequest


def _recognise(head: bytes, content_type: str, _name: str) -> bool:
    return is_prose(head, content_type)


def _parse(data: bytes, request: ParseRequest, tools: ParseTools) -> GraphFragment:
    from ingest.parse.markdown.page import parse_plain_text

    return parse_plain_text(data, request, count_tokens=tools.count_tokens)


FORMAT = DocumentFormat(
    name="text",
    parse=_parse,
    recognise=_recognise,
    suffixes=(".txt",),
    media_types=("text/plain",),
    is_text=True,
    unread_secrets=find_in_source,
)
