"""A second generation of the governance index on disk: a passage is changed, one gone, the PDF too."""

from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from indexes.layout import IndexLayout
from indexes.stores.ledger.generations import GenerationState
from indexes.stores.ledger.ledger import Ledger, open_ledger
from schemas.changes import FeedChange, FeedEntry, FeedKind
from schemas.documents import DocumentState, KnownDocument, LiveDocument
from schemas.nodes import Chunk
from schemas.source import Freshness, Source
from tests.fakes.governance import governance_documents
from tests.fakes.ledger_rows import begin, put
from tests.fakes.next_generation import publish_next
from tests.fakes.small_index import SOURCE, page

URI = f"files://{SOURCE}/backup.md"
WAL_BEFORE = "Set max_wal_size to bound the space between two checkpoints."
WAL_NOW = "Set max_wal_size to bound the space between three checkpoints."


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """Ids of the document and of its passages before and after."""

    doc: str
    first: str
    before: str
    now: str
    removed: str


def publish_second(root: Path) -> Changed:
    """Publish it over generation 1, whose feed the ledger gets too."""
    documents, edges = governance_documents()
    at = next(place for place, (_, chunks) in enumerate(documents) if chunks[0].file_path == "backup.md")
    old = documents[at][1]
    new = page("backup", {"Backup guide": old[0].text, "WAL size": WAL_NOW}, doc_type="guide")
    kept = [found for found in (*documents[:at], new, *documents[at + 1 :]) if found[1][0].page_no is None]
    docs = {chunks[0].doc for _, chunks in kept}
    joined = [edge for edge in edges if {edge.src, edge.dst} <= docs]
    assert publish_next(root, kept, joined) == 2
    changed = Changed(doc=old[0].doc, first=old[0].id, before=old[1].id, now=new[1][1].id, removed=old[2].id)
    with closing(open_ledger(f"sqlite:///{IndexLayout(root).ledger}")) as ledger:
        ledger.generations.mark(1, GenerationState.PUBLISHED)
        _know(ledger, root, old)
        number = begin(ledger, base=1, source=SOURCE)
        live = LiveDocument(doc=changed.doc, source=SOURCE, uri=URI, fragment_sha="b2", content_hash="c2")
        ledger.generations.freeze(
            number, payloads=(), plan_sha="p", changes=[put(live)], details={}, feed=_feed(changed)
        )
        ledger.generations.mark(number, GenerationState.PUBLISHED)
    return changed


def _know(ledger: Ledger, root: Path, chunks: tuple[Chunk, ...]) -> None:
    known = KnownDocument(
        source=SOURCE,
        uri=URI,
        doc=chunks[0].doc,
        title="Backup guide",
        state=DocumentState.QUARANTINED,
        reason="looks like an error page",
        checked_at="2026-01-31T12:00:00+00:00",
    )
    ledger.documents.save([known])
    ledger.sources.save(Source(name=SOURCE, kind="files", freshness=Freshness(slo=36 * 3600.0)))
    ledger.runs.start("run-1", source=SOURCE, now="2026-01-31T11:59:00+00:00")
    report = {
        "generation": 2,
        "stages": {"start": 1.25, "crawl": 2.0},
        "http": {"requests": 7, "bytes": 5310},
        "chunks": {"embedded": 1},
        "peak_rss_mb": {"sum": 670.0},
        "cost": {
            "causes": {"fetch": {"cpu": 0.25}, "embed": {"cpu": 1.5}},
            "rows": {"chunks": {"touched": 3, "there": 41}},
        },
        "problems": [{"url": URI, "reason": "looks like an error page"}],
    }
    ledger.runs.finish("run-1", state="finished", now="2026-01-31T12:00:00+00:00", report=report)


def _feed(changed: Changed) -> list[FeedEntry]:
    entry = FeedEntry(
        kind=FeedKind.CHUNK,
        change=FeedChange.REPLACED,
        old_id=changed.before,
        new_id=changed.now,
        source=SOURCE,
        uri=URI,
        reason="other text",
    )
    document = replace(entry, kind=FeedKind.DOCUMENT, old_id=changed.doc, new_id=changed.doc)
    removed = replace(entry, change=FeedChange.REMOVED, old_id=changed.removed, new_id=None, reason="gone")
    refreshed = replace(
        entry, change=FeedChange.REFRESHED, old_id=changed.first, new_id=changed.first, reason="other links"
    )
    return [document, entry, removed, refreshed]
