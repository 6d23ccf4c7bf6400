"""What was last fetched of web addresses, as a WARC file; a source of kind `warc` reads it back.

Source: WARC 1.1 (ISO 28500:2017).
"""

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from io import BytesIO
from typing import Any, BinaryIO
from uuid import NAMESPACE_URL, uuid5

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from flows.run.index import Index
from ingest.urls import is_file_url
from schemas.documents import COMPARED, DocumentState, KnownDocument
from schemas.errors import DamageFound

_STATUS = {200: "200 OK", 404: "404 Not Found", 410: "410 Gone"}
_REDIRECT = "302 Found"


def write_warc(
    index: Index,
    out: BinaryIO,
    *,
    source: str | None,
    gzip: bool,
    watch: Callable[[Iterable[KnownDocument]], Iterable[KnownDocument]] = iter,
) -> Counter[str]:
    """Write one response for each document; give how many documents were left out, by reason.

    Args: watch: shows how far it is.
    """
    writer, left_out = WARCWriter(out, gzip=gzip, warc_version="WARC/1.1"), Counter[str]()
    info = {"software": "sitegraph", "format": "WARC File Format 1.1"}
    times = (known.fetched_at for known in _known(index, source))
    writer.write_record(_warcinfo(writer, info, min(filter(None, times), default=None)))
    for known in watch(_known(index, source)):
        if (reason := _write(index, writer, known)) is not None:
            left_out[reason] += 1
    return left_out


def _known(index: Index, source: str | None) -> Iterable[KnownDocument]:
    names = sorted(index.ledger.documents.states()) if source is None else [source]
    for name in names:
        yield from sorted(index.ledger.documents.of_source(name), key=lambda known: known.uri)


def _write(index: Index, writer: WARCWriter, known: KnownDocument) -> str | None:
    """Write what is known of a document; None, or why nothing was."""
    if is_file_url(known.uri):
        return "files, which have no address"
    led_by_page = known.state is DocumentState.REDIRECTED and known.refresh is not None
    if known.state in COMPARED or led_by_page:
        return _write_page(index, writer, known)
    if known.state is DocumentState.REDIRECTED and known.location is not None:
        status = known.http_status or 302
        line = _REDIRECT if status == 302 else f"{status} Redirect"
        writer.write_record(_response(writer, known, line, {"Location": known.location}))
        return None
    if known.state in (DocumentState.MISSING, DocumentState.GONE) and known.http_status in _STATUS:
        writer.write_record(_response(writer, known, _STATUS[known.http_status], {}))
        return None
    return None if known.fragment_sha is None else f"{known.state.value}, whose good bytes are not kept"


def _write_page(index: Index, writer: WARCWriter, known: KnownDocument) -> str | None:
    try:
        body = index.raw.get(known.raw_sha or "")
    except DamageFound:
        return "with secrets in their bytes, which are not kept" if known.withheld else "whose bytes are lost"
    told = {
        "Content-Type": known.content_type,
        "ETag": known.etag,
        "Last-Modified": known.last_modified,
    }
    headers = {name: value for name, value in told.items() if value is not None}
    tags = [("X-Robots-Tag", line) for line in (known.x_robots_tag or "").split("\n") if line]
    writer.write_record(_response(writer, known, _STATUS[200], headers, more=tags, body=body))
    return None


def _response(
    writer: WARCWriter,
    known: KnownDocument,
    status: str,
    headers: dict[str, str],
    *,
    more: Iterable[tuple[str, str]] = (),
    body: bytes = b"",
) -> Any:
    fields = [*headers.items(), *more, ("Content-Length", str(len(body)))]
    return writer.create_warc_record(
        known.uri,
        "response",
        payload=BytesIO(body),
        http_headers=StatusAndHeaders(status, fields, protocol="HTTP/1.1"),
        warc_headers_dict={
            "WARC-Date": _date(known.fetched_at or known.checked_at),
            "WARC-Record-ID": f"<urn:uuid:{uuid5(NAMESPACE_URL, f'{known.uri} {known.raw_sha}')}>",
        },
    )


def _warcinfo(writer: WARCWriter, info: dict[str, str], begun: str | None) -> Any:
    """Make the first record; equal indexes give equal files, so that it tells no time of its own."""
    record = writer.create_warcinfo_record(None, info)
    record.rec_headers.replace_header("WARC-Date", _date(begun))
    identifier = uuid5(NAMESPACE_URL, f"warcinfo {begun}")
    record.rec_headers.replace_header("WARC-Record-ID", f"<urn:uuid:{identifier}>")
    return record


def _date(at: str | None) -> str:
    moment = datetime.fromisoformat(at) if at else datetime(1970, 1, 1, tzinfo=UTC)
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
