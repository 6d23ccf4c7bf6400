"""Small rows for a ledger."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pytest
import sqlalchemy as sa

from indexes.stores.ledger.generations import GenerationState
from indexes.stores.ledger.ledger import Ledger, open_ledger
from schemas.changes import ChangeKind, DocumentChange
from schemas.documents import DocumentState, KnownDocument, LiveDocument
from schemas.edges import EdgeKind, LinkPosition
from schemas.errors import SitegraphError
from schemas.fragment import GraphFragment, Link, Reference
from schemas.ids import page_id
from schemas.nodes import DateOrigin, DocumentKind

SITE = "https://site.test"
SECRET = "hunter2"
ODD_NAME = "o'neill \"hi\" 100% a_b back\\slash Köln – 日本 :colon '; DROP TABLE run;--"
"""What a database may take for its own: quotes, wildcards, escapes, parameters, the end of a statement."""


def make_known(path: str, *, source: str = "site", **fields: Any) -> KnownDocument:
    """A document of the crawl state."""
    return KnownDocument(source=source, uri=f"{SITE}/{path}", **fields)


def full_known() -> KnownDocument:
    """A document with no field left at its default."""
    return KnownDocument(
        source="o'neill",
        uri=f'{SITE}/100%25?q="x"&k=ключ',
        state=DocumentState.REDIRECTED,
        depth=3,
        found_by=f"{SITE}/",
        doc="page:abc",
        doc_id="GOV-0017",
        title='It\'s – a "test" of 100 %\nλ 日本 🙂',
        content_type="text/html; charset=utf-8",
        x_robots_tag="noindex",
        etag='W/"x"',
        last_modified="2026-01-02T03:04:05+00:00",
        fetched_modified="2026-01-02T03:04:05+00:00",
        fetched_origin=DateOrigin.HTTP,
        stated_modified="2026-01-01T00:00:00+00:00",
        stated_origin=DateOrigin.META,
        raw_sha="1" * 64,
        parsed_sha="2" * 64,
        fragment_sha="3" * 64,
        content_hash="4" * 64,
        pipeline_version="v1",
        http_status=301,
        location=f"{SITE}/new",
        canonical=f"{SITE}/own",
        refresh=f"{SITE}/new",
        lastmod="2026-01-02T00:00:00+00:00",
        lastmod_then="2026-01-01T00:00:00+00:00",
        lastmod_held=True,
        failures=2,
        misses=1,
        missed_at="2026-01-03T00:00:00+00:00",
        words=1234,
        secrets=3,
        withheld=True,
        unmodified=4,
        repeats=3,
        denied=True,
        moves=2,
        interval=86400.25,
        next_due="2026-02-03T00:00:00+00:00",
        fetched_at="2026-01-04T00:00:00+00:00",
        checked_at="2026-01-05T00:00:00+00:00",
        run_id="run-1",
        reason="HTTP 301",
    )


def make_live(path: str, version: str, *, source: str = "site", **fields: Any) -> LiveDocument:
    """A document as a generation holds it; *version* names its content."""
    uri = f"{SITE}/{path}"
    return LiveDocument(
        doc=page_id(uri),
        source=source,
        uri=uri,
        fragment_sha=f"fragment of {path} {version}",
        content_hash=f"content of {path} {version}",
        **fields,
    )


def put(live: LiveDocument) -> DocumentChange:
    """The document comes, or changes into this."""
    return DocumentChange(kind=ChangeKind.CHANGED, old=None, new=live)


def drop(live: LiveDocument) -> DocumentChange:
    """The document goes."""
    return DocumentChange(kind=ChangeKind.REMOVED, old=live, new=None)


def make_fragment(
    path: str, links: Iterable[Link] = (), references: Iterable[tuple[EdgeKind, str]] = ()
) -> GraphFragment:
    """A fragment that holds nothing but links."""
    uri = f"{SITE}/{path}"
    return GraphFragment(
        uri=uri,
        doc=page_id(uri),
        kind=DocumentKind.HTML,
        content_hash="c",
        nodes=(),
        edges=(),
        chunks=(),
        links=tuple(links),
        references=tuple(Reference(kind=kind, target=target) for kind, target in references),
    )


def link_to(path: str, text: str, position: LinkPosition = LinkPosition.BODY, **fields: Any) -> Link:
    """A link to a page of the site."""
    return Link(target=f"{SITE}/{path}", text=text, position=position, **fields)


def begin(ledger: Ledger, *, base: int, source: str = "site", run_id: str = "run-1") -> int:
    """Open a generation."""
    return ledger.generations.begin(
        base=base, source=source, run_id=run_id, token=1, as_of="2026-01-01T00:00:00+00:00"
    )


def freeze(
    ledger: Ledger,
    number: int,
    changes: Collection[DocumentChange],
    *,
    payloads: Iterable[str] = (),
    details: Mapping[str, Any] | None = None,
) -> None:
    """Fix the plan of a generation."""
    ledger.generations.freeze(
        number, payloads=payloads, plan_sha="p" * 64, changes=changes, details=details or {}
    )


def publish(
    ledger: Ledger, *changes: DocumentChange, base: int, payloads: Iterable[str] = (), source: str = "site"
) -> int:
    """Take a generation all the way."""
    number = begin(ledger, base=base, source=source)
    freeze(ledger, number, changes, payloads=payloads)
    ledger.generations.mark(number, GenerationState.PUBLISHED)
    return number


A1, A2, A3, A4 = (make_live("a", version) for version in "1234")
B1, B2 = (make_live("b", version) for version in "12")
C1, C2 = (make_live("c", version) for version in "12")


def held(ledger: Ledger, generation: int) -> dict[str, str]:
    """Fragment by the last part of the URI."""
    live = ledger.generations.live(generation).values()
    return {document.uri.rpartition("/")[2]: document.fragment_sha for document in live}


def holding(*documents: LiveDocument) -> dict[str, str]:
    """What `held` gives of a generation that holds just these."""
    return {document.uri.rpartition("/")[2]: document.fragment_sha for document in documents}


def table(ledger: Ledger, name: str) -> list[tuple[object, ...]]:
    """All rows of a table."""
    with ledger.engine.connect() as connection:
        return sorted(map(tuple, connection.execute(sa.text(f"SELECT * FROM {name}"))), key=str)


def refuses(url: str, kind: type[SitegraphError]) -> str:
    """Open a ledger that cannot be opened and give what is said of it."""
    with pytest.raises(kind) as refused:
        open_ledger(url)
    said = str(refused.value)
    assert "\n" not in said
    assert SECRET not in said
    return said
