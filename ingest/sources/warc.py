"""Sources of kind `warc`: a site as crawlers have archived it, without any network."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationInfo
from warcio.bufferedreaders import ChunkedDataReader
from warcio.statusandheaders import StatusAndHeadersParser

from ingest.fetch.body import build_decoder
from ingest.fetch.document import read_fault, result_of_answer
from ingest.fetch.faults import FetchFault, FetchFaultKind
from ingest.fetch.media import HEAD_BYTES, BodyLimit, FetchLimits, judge_document, limits_of, with_one_type
from ingest.fetch.transport import HttpResponse
from ingest.parse.formats.registry import installed_formats
from ingest.sources.results import result_of, until_stopped
from ingest.sources.warc_file import Damage, Place, Record, read_record, read_records
from ingest.urls import canonical_url
from schemas.errors import GuardRefused, UnsupportedMedia
from schemas.fetch import FetchRequest, FetchResult, FetchStatus
from schemas.ids import sha256_hex
from schemas.report import Problem
from schemas.source import Source
from schemas.source_kinds import Keys, OpenSource, SourceContext, SourceEntry, SourceKind, SourceListing

_VERSIONS = ["HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/2.0", "HTTP/3", "HTTP/3.0"]
_WITH_BODY = frozenset({200, 203})


def _answer_of(record: Record, url: str, limits: FetchLimits) -> HttpResponse:
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


_UNCHANGED = 304
"""Says what a client had already, and not what that was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Where an answer is, when it came, and the hash of its record's block."""

    place: Place
    date: str
    content: str


@dataclass(slots=True)
class _ArchiveIndex:
    """The newest answer by URL, what repeats another's payload, and what was left out."""

    found: dict[str, Found] = field(default_factory=dict)
    payloads: dict[str, Found] = field(default_factory=dict)
    repeats: list[tuple[str, str, str]] = field(default_factory=list)
    unread: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    records: int = 0

    def add(self, record: Record, limits: FetchLimits) -> None:
        """Take up a record."""
        headers, kind = record.headers, record.headers.get("warc-type")
        self.records += 1
        url = canonical_url(headers.get("warc-target-uri", "").strip("<>"))
        if url is None or not url.startswith("http") or kind not in ("response", "resource", "revisit"):
            return
        date, digest = headers.get("warc-date", ""), headers.get("warc-payload-digest", "")
        if kind == "revisit":
            self.repeats.append((url, date, digest))
            return
        if reason := _why_unread(record, url, limits):
            self.unread[reason] += 1
            return
        found = Found(place=record.place, date=date, content=sha256_hex(record.block or b""))
        self.payloads.setdefault(digest, found)
        self.keep(url, found)

    def keep(self, url: str, found: Found) -> None:
        """Let the newer of two answers count, of equally old ones the later in the files."""
        held = self.found.get(url)
        if held is None or held.date <= found.date:
            self.found[url] = found

    def resolve(self) -> None:
        """Give what repeats another's payload that payload; of one that is not here, what there was stays."""
        for url, date, digest in self.repeats:
            if digest and (same := self.payloads.get(digest)):
                self.keep(url, replace(same, date=date))
            elif url not in self.found:
                self.problems.append(Problem(url=url, reason="left out: repeats a record that is not here"))


def _why_unread(record: Record, url: str, limits: FetchLimits) -> str | None:
    """Name what is no document; what cannot be read is one, and says so when it is fetched."""
    if url.partition("://")[2].partition("/")[2] == "robots.txt":
        return "robots.txt"
    try:
        if _answer_of(record, url, limits).status == _UNCHANGED:
            return "HTTP 304"
    except FetchFault as fault:
        if fault.kind is FetchFaultKind.UNSUPPORTED:
            return fault.headers.get("content-type", "").partition(";")[0].strip()[:80] or "no type"
    return None


_SUFFIXES = (".warc", ".warc.gz")
_TOLD = 5


def _absolute(path: str, info: ValidationInfo) -> str:
    return str(((info.context or {})["folder"] / path).resolve())


class WarcKeys(Keys):
    """WARC files, and folders whose files are read in the order of their names."""

    archives: tuple[Annotated[str, AfterValidator(_absolute)], ...] = Field(min_length=1)


class _Archive:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._files = tuple(_files(WarcKeys.of(source).archives))
        self._limits = limits_of(source.limits)
        self._lock = threading.Lock()
        self._index: _ArchiveIndex | None = None

    def discover(self, *, should_stop: Callable[[], bool]) -> SourceListing:
        index = self._load(should_stop)
        entries = tuple(SourceEntry(uri=url, content=one.content) for url, one in sorted(index.found.items()))
        return SourceListing(entries=entries, problems=tuple(index.problems))

    def fetch(
        self,
        requests: Sequence[FetchRequest],
        *,
        on_result: Callable[[FetchResult], None],
        should_stop: Callable[[], bool],
    ) -> None:
        index = self._load(should_stop)
        for request in until_stopped(requests, should_stop, subject=self._source.name):
            on_result(self._look(request, index.found.get(request.url)))

    def _look(self, request: FetchRequest, found: Found | None) -> FetchResult:
        if found is None:
            return result_of(request.url, FetchStatus.GONE, reason="not in the archive")
        if request.etag == found.content:
            return result_of(request.url, FetchStatus.NOT_MODIFIED)
        record = read_record(found.place, max_bytes=self._limits.largest.max_bytes)
        if record is None or (record.block is not None and sha256_hex(record.block) != found.content):
            return result_of(request.url, FetchStatus.FAILED, reason="the archive changed while it was read")
        plain = FetchRequest(url=request.url)
        try:
            result = result_of_answer(plain, _answer_of(record, request.url, self._limits))
        except FetchFault as fault:
            return read_fault(plain, fault)
        return replace(result, etag=found.content, bytes=len(result.body or b""))

    def _load(self, should_stop: Callable[[], bool]) -> _ArchiveIndex:
        with self._lock:
            if self._index is None:
                self._index = self._scan(should_stop)
            return self._index

    def _scan(self, should_stop: Callable[[], bool]) -> _ArchiveIndex:
        index = _ArchiveIndex()
        for file in self._files:
            try:
                self._scan_file(file, index, should_stop)
            except OSError as error:
                why = f"cannot be read ({error.strerror}); nothing was changed"
                raise GuardRefused(why, subject=str(file)) from error
        if not index.records:
            files = ", ".join(map(str, self._files[:_TOLD]))
            raise GuardRefused("holds no record of a WARC file; nothing was changed", subject=files)
        index.resolve()
        if index.unread:
            told = ", ".join(f"{kind} {number}" for kind, number in index.unread.most_common(_TOLD))
            why = f"left out: {index.unread.total()} records that are no documents ({told})"
            index.problems.append(Problem(url=self._files[0].name, reason=why))
        return index

    def _scan_file(self, file: Path, index: _ArchiveIndex, should_stop: Callable[[], bool]) -> None:
        records = read_records(file, max_bytes=self._limits.largest.max_bytes)
        for one in until_stopped(records, should_stop, subject=self._source.name):
            if isinstance(one, Damage):
                why = f"the record at byte {one.offset} {one.reason}; the rest is read"
                index.problems.append(Problem(url=file.name, reason=why))
            else:
                index.add(one, self._limits)


def _files(archives: Sequence[str]) -> Iterator[Path]:
    for name in archives:
        path = Path(name)
        if path.is_dir():
            yield from sorted(file for file in path.iterdir() if file.name.lower().endswith(_SUFFIXES))
        elif path.is_file():
            yield path
        else:
            raise GuardRefused("does not exist; nothing was changed", subject=name)


@contextmanager
def _open(source: Source, _context: SourceContext) -> Iterator[OpenSource]:
    yield _Archive(source)


KIND = SourceKind(
    name="warc",
    keys=WarcKeys,
    open=_open,
    origin="archive",
    shared=("quarantine",),
    proves_content=True,
)
