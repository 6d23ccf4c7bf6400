"""Ledger rows, fetch results and live documents for tests of decisions."""

from datetime import UTC, datetime
from typing import Any

from schemas.documents import KnownDocument, LiveDocument
from schemas.fetch import FetchResult, FetchStatus
from schemas.source import Source

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SITE = "https://docs.example.org/handbook/"


def web_source(**fields: Any) -> Source:
    """A source of one seed; *fields* override."""
    return Source(**{"name": "handbook", "kind": "web", "seeds": (SITE,), **fields})


def file_source(**fields: Any) -> Source:
    """A source of one folder; *fields* override."""
    return Source(**{"name": "notes", "kind": "files", "roots": ("/srv/notes",), **fields})


def nowhere(_uri: str) -> bool:
    """No address is in scope."""
    return False


def known(uri: str = SITE, **fields: Any) -> KnownDocument:
    """A ledger row; *fields* override."""
    return KnownDocument(**{"source": "handbook", "uri": uri, **fields})


def live(doc: str = "page:1", **fields: Any) -> LiveDocument:
    """A document as a generation holds it; *fields* override."""
    plain = {"source": "handbook", "uri": SITE, "fragment_sha": "f1", "content_hash": "c1"}
    return LiveDocument(**{"doc": doc, **plain, **fields})


def fetched(status: FetchStatus, **fields: Any) -> FetchResult:
    """What came of one fetch; *fields* override."""
    plain = {"url": SITE, "requests": 1, "bytes": 0, "statuses": (), "seconds": 0.1}
    return FetchResult(**{"status": status, **plain, **fields})
