"""Which answers a WARC file holds: the newest of each URL, and of those only what is a document."""

from collections import Counter
from dataclasses import dataclass, field, replace

from ingest.fetch.faults import FetchFault, FetchFaultKind
from ingest.fetch.limits import FetchLimits
from ingest.sources.warc_answer import answer_of
from ingest.sources.warc_file import Place, Record
from ingest.urls import canonical_url
from schemas.hashing import sha256_hex
from schemas.report import Problem

_UNCHANGED = 304
"""Says what a client had already, and not what that was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Where an answer is, when it came, and the hash of its record's block."""

    place: Place
    date: str
    content: str


@dataclass(slots=True)
class ArchiveIndex:
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
        if answer_of(record, url, limits).status == _UNCHANGED:
            return "HTTP 304"
    except FetchFault as fault:
        if fault.kind is FetchFaultKind.UNSUPPORTED:
            return fault.headers.get("content-type", "").partition(";")[0].strip()[:80] or "no type"
    return None
