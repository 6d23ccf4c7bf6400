"""Sources of kind `warc`: a site as crawlers have archived it, without any network."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo

from ingest.fetch.document import read_answer, read_fault
from ingest.fetch.faults import FetchFault
from ingest.fetch.limits import limits_of
from ingest.sources.results import result_of, until_stopped
from ingest.sources.warc_answer import answer_of
from ingest.sources.warc_file import Damage, read_record, read_records
from ingest.sources.warc_index import ArchiveIndex, Found
from schemas.errors import GuardRefused
from schemas.fetch import FetchRequest, FetchResult, FetchStatus
from schemas.hashing import sha256_hex
from schemas.report import Problem
from schemas.source import Source
from schemas.source_kinds import Keys, OpenSource, SourceContext, SourceEntry, SourceKind, SourceListing

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
        self._index: ArchiveIndex | None = None

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
            result = read_answer(plain, answer_of(record, request.url, self._limits))
        except FetchFault as fault:
            return read_fault(plain, fault)
        return replace(result, etag=found.content, bytes=len(result.body or b""))

    def _load(self, should_stop: Callable[[], bool]) -> ArchiveIndex:
        with self._lock:
            if self._index is None:
                self._index = self._scan(should_stop)
            return self._index

    def _scan(self, should_stop: Callable[[], bool]) -> ArchiveIndex:
        index = ArchiveIndex()
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

    def _scan_file(self, file: Path, index: ArchiveIndex, should_stop: Callable[[], bool]) -> None:
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
