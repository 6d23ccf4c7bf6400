"""What a record says that a server answered, as an answer of the web."""

from functools import partial
from io import BytesIO
from typing import Any

from warcio.bufferedreaders import ChunkedDataReader
from warcio.statusandheaders import StatusAndHeadersParser

from ingest.fetch.decode import build_decoder
from ingest.fetch.faults import FetchFault, FetchFaultKind
from ingest.fetch.limits import BodyLimit, FetchLimits
from ingest.fetch.media import HEAD_BYTES, judge_document, with_one_type
from ingest.fetch.transport import HttpResponse
from ingest.parse.formats.registry import installed_formats
from ingest.sources.warc_file import Record
from schemas.errors import UnsupportedMedia

_VERSIONS = ["HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/2.0", "HTTP/3", "HTTP/3.0"]
_WITH_BODY = frozenset({200, 203})


def answer_of(record: Record, url: str, limits: FetchLimits) -> HttpResponse:
    """Return the answer of *url* in a record of type response or resource, its body decoded.

    Raises: FetchFault: it is no HTTP, too large, or of no type that is read.
    """
    if record.block is None:
        raise FetchFault(FetchFaultKind.TOO_LARGE, f"the record exceeds {limits.largest.cap}")
    if record.headers.get("warc-type") == "resource":
        headers = {"content-type": record.headers.get("content-type", "")}
        body = _body(record.block, headers, url, limits)
        return HttpResponse(status=200, headers=headers, body=body, framed=True)
    stream = BytesIO(record.block)
    status, headers = _head(stream)
    if status not in _WITH_BODY:
        return HttpResponse(status=status, headers=headers, body=None, framed=True)
    body = _body(_unchunked(stream, headers), headers, url, limits)
    return HttpResponse(status=status, headers=headers, body=body, framed=True)


def _head(stream: BytesIO) -> tuple[int, dict[str, str]]:
    try:
        head: Any = StatusAndHeadersParser(_VERSIONS, verify=True).parse(stream)
        status = int(head.get_statuscode())
    except Exception as error:  # of many kinds, for bytes of any kind
        raise FetchFault(FetchFaultKind.BAD_ANSWER, "the record holds no HTTP answer") from error
    headers: dict[str, str] = {}
    for name, value in head.headers:
        key = name.lower()
        # A robot's name holds to the end of its header: joined by commas it would claim the next one.
        separator = "\n" if key == "x-robots-tag" else ", "
        headers[key] = f"{headers[key]}{separator}{value}" if key in headers else value
    return status, with_one_type(headers)


def _unchunked(stream: BytesIO, headers: dict[str, str]) -> bytes:
    if "chunked" not in headers.get("transfer-encoding", "").lower():
        return stream.read()
    return bytes(ChunkedDataReader(stream).read())  # as it is, where the writer undid the chunks


def _body(data: bytes, headers: dict[str, str], url: str, limits: FetchLimits) -> bytes:
    content_type = headers.get("content-type")
    judge = partial(judge_document, content_type, url=url, formats=installed_formats(), limits=limits)
    try:
        limit = judge(b"")
        body = _decoded(data, headers.get("content-encoding"), limits.largest)
        limit = judge(body[:HEAD_BYTES]) if body else limit
    except UnsupportedMedia as error:
        raise FetchFault(FetchFaultKind.UNSUPPORTED, error.message, status=200, headers=headers) from None
    if len(body) > limit.max_bytes:
        raise FetchFault(FetchFaultKind.TOO_LARGE, f"the decoded body exceeds {limit.cap}")
    return body


def _decoded(data: bytes, coding: str | None, limit: BodyLimit) -> bytes:
    """Undo the content coding; some writers have, and left the header as it was."""
    decoder = build_decoder(coding)
    if decoder is None:
        return data
    body = bytearray()
    try:
        for piece in decoder.feed(data):
            body += piece
            if len(body) > limit.max_bytes:
                raise FetchFault(FetchFaultKind.TOO_LARGE, f"the decoded body exceeds {limit.cap}")
    except FetchFault as fault:
        if fault.kind is FetchFaultKind.UNDECODABLE and not body:
            return data
        raise
    if not decoder.ended():
        raise FetchFault(FetchFaultKind.TRUNCATED, "the body ended before its content coding did")
    return bytes(body)
