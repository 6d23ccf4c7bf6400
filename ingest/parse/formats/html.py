"""HTML and XHTML."""

from ingest.parse.formats.sniffing import XML_TYPES, has_markup, is_prose
from ingest.parse.secrets import find_in_markup
from ingest.parse.stated_access import names_access_in_markup
from schemas.formats import DocumentFormat, ParseTools
from schemas.fragment import GraphFragment, ParseRequest


def _recognise(head: bytes, content_type: str, _name: str) -> bool:
    return is_prose(head, content_type) and has_markup(head)


def _parse(data: bytes, request: ParseRequest, tools: ParseTools) -> GraphFragment:
    from ingest.parse.html.page import parse_html

    return parse_html(
        data, request, count_tokens=tools.count_tokens, run_hook=tools.run_hook, left_out=tools.left_out
    )


def _names_access(data: bytes, content_type: str | None) -> bool:
    from ingest.parse.html.charset import decode_html

    return names_access_in_markup(decode_html(data, content_type))


FORMAT = DocumentFormat(
    name="html",
    parse=_parse,
    recognise=_recognise,
    suffixes=(".html", ".htm"),
    media_types=("text/html", "application/xhtml+xml", *XML_TYPES),
    is_text=True,
    unread_secrets=find_in_markup,
    names_access=_names_access,
    end=b"</html>",
)
