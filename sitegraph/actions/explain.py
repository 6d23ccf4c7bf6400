"""Everything known of one document: how it was found, what happened to it, what became of it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from flows.run.contexts import load_fragment
from flows.run.index import Index
from indexes.stores.ledger.ledger import Ledger
from ingest.plan.scope import scope_refusal, seed_urls
from ingest.sources.registry import kind_named
from ingest.urls import is_file_url
from schemas.documents import ASLEEP, DocumentState, HistoryEntry, HistoryEvent, KnownDocument
from schemas.errors import ConfigError, DamageFound
from schemas.nodes import Page
from schemas.records import to_record
from schemas.source import Source
from sitegraph.actions.find import find_documents

_LONGEST_TRAIL = 100


def explain(index: Index, name: str, *, source: str | None = None) -> dict[str, Any]:
    """Return what is known of the document that *name* means, once for each source that knows it.

    Raises: ConfigError: nothing of that name is known.
    """
    sources = index.ledger.sources.all()
    found = find_documents(index, name, source=source)
    records = [_explain(index, known, sources.get(known.source)) for known in found]
    return {"name": name, "generation": index.current(), "documents": records}


def _explain(index: Index, known: KnownDocument, source: Source | None) -> dict[str, Any]:
    history = index.ledger.history.of_document(known.source, known.uri)
    return {
        "source": known.source,
        "uri": known.uri,
        "title": known.title,
        "doc_id": known.doc_id,
        "state": known.state.value,
        "http_status": known.http_status,
        "reason": known.reason,
        "leads_to": known.location,
        "aliases": _aliases(index.ledger, known),
        "translations": translations_of(index, known),
        "found": list(_trail(index.ledger, known, source)),
        "scope": _scope(known, source),
        "robots": _robots(known),
        "index": _indexed(index, known),
        "looks": _looks(known, source),
        "history": [_entry(entry) for entry in history],
    }


def _trail(ledger: Ledger, known: KnownDocument, source: Source | None) -> Iterator[dict[str, Any]]:
    """How the document was found, then how what led to it was found, up to where the run began."""
    passed: set[str] = set()
    listed = ledger.listings.of_source(known.source)
    document: KnownDocument | None = known
    while document is not None and document.uri not in passed and len(passed) < _LONGEST_TRAIL:
        passed.add(document.uri)
        before = _found_by(ledger, document)
        yield {
            "uri": document.uri,
            "how": how_found(document, before, source, listed.get(document.uri, ())),
            "at": _found_at(ledger.history.of_document(document.source, document.uri)),
            "by": document.found_by,
        }
        document = before


def how_found(
    document: KnownDocument, before: KnownDocument | None, source: Source | None, listed: Collection[str] = ()
) -> str:
    """Say whether a seed, folder, sitemap, link or redirect led to a document; *before* is what names it.

    *listed* are the lists that name it, where its kind of source tells them apart.
    """
    if source is not None and document.uri in seed_urls(source):
        return "seed"
    if document.found_by is not None:
        led = before is not None and before.state is DocumentState.REDIRECTED
        return "redirect" if led and before is not None and before.location == document.uri else "link"
    if source is None:
        return "unknown"
    try:
        origin = kind_named(source.kind).origin
        return origin if origin in listed else min(listed, default=origin)
    except ConfigError:  # of a package that is not here any more
        return "unknown"


def _found_by(ledger: Ledger, document: KnownDocument) -> KnownDocument | None:
    if document.found_by is None:
        return None
    return ledger.documents.get(document.source, [document.found_by]).get(document.found_by)


def _found_at(history: Sequence[HistoryEntry]) -> str | None:
    return next((entry.at for entry in history if entry.event is HistoryEvent.FOUND), None)


def _scope(known: KnownDocument, source: Source | None) -> dict[str, Any]:
    """Whether the document belongs, by the source file as the last run read it; null where none has."""
    if source is None:
        return {"included": None, "reason": "no run has read the source file yet"}
    refusal = scope_refusal(known.uri, source, depth=known.depth)
    return {"included": refusal is None, "reason": refusal or ""}


def _robots(known: KnownDocument) -> str:
    """What robots.txt said at the last look; nothing is asked now."""
    if is_file_url(known.uri):
        return "no rules for files"
    if known.state is DocumentState.DISALLOWED:
        return "forbidden"
    return "allowed" if known.http_status is not None else "not asked yet"


def _indexed(index: Index, known: KnownDocument) -> dict[str, Any] | None:
    """What readers see of the document; null where no published generation has held it."""
    if known.doc is None:
        return None
    published = index.ledger.lookup.published_in(known.doc)
    current = index.current()
    live = index.ledger.generations.live(current, docs=[known.doc]).get(known.doc)
    if live is None and not published:
        return None
    chunks = index.chunks.at(current).of_documents([known.doc]) if live else ()
    return {
        "doc": known.doc,
        "generations": [list(span) for span in spans(published)],
        "current": live is not None,
        "owner": live.source if live else None,
        "stale": live.stale if live else False,
        "chunks": len(chunks),
        "content_hash": live.content_hash if live else known.content_hash,
        "fetched_at": live.fetched_at if live else known.fetched_at,
        "last_modified": live.last_modified if live else None,
        "last_modified_origin": live.last_modified_origin if live else None,
    }


def spans(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Fold ascending numbers into (first, last) of each unbroken run."""
    folded: list[tuple[int, int]] = []
    for number in numbers:
        if folded and folded[-1][1] == number - 1:
            folded[-1] = (folded[-1][0], number)
        else:
            folded.append((number, number))
    return folded


def _looks(known: KnownDocument, source: Source | None) -> dict[str, Any]:
    return {
        "last": known.checked_at,
        "next_due": None if known.state in ASLEEP else known.next_due,
        "interval_seconds": known.interval,
        "max_age_seconds": source.recrawl.max_age if source else None,
        "etag": known.etag,
        "last_modified": known.last_modified,
        "failures": known.failures,
        "misses": known.misses,
    }


def _aliases(ledger: Ledger, known: KnownDocument) -> list[str]:
    """Addresses that lead here, over any number of steps."""
    found: set[str] = set()
    waiting = [known.uri]
    while waiting:
        leading = ledger.lookup.leading_to(waiting.pop())
        new = {document.uri for document in leading} - found - {known.uri}
        found |= new
        waiting += sorted(new)
    return sorted(found)


def translations_of(index: Index, known: KnownDocument) -> list[dict[str, str | None]]:
    """The addresses that the page names as itself in other languages: documents of their own."""
    if known.fragment_sha is None:
        return []
    try:
        fragment = load_fragment(index, known.fragment_sha)
    except DamageFound:
        return []
    rows = index.ledger.documents.get(known.source, (*fragment.alternates, *fragment.told_translations))
    # What others name, and this index does not know, is not for its readers.
    named = dict.fromkeys((*fragment.alternates, *filter(rows.get, fragment.told_translations)))
    return [
        {
            "uri": uri,
            "lang": _language(index, rows.get(uri)),
            "state": rows[uri].state if uri in rows else None,
        }
        for uri in named
    ]


def _language(index: Index, known: KnownDocument | None) -> str | None:
    if known is None or known.fragment_sha is None:
        return None
    try:
        nodes = load_fragment(index, known.fragment_sha).nodes
    except DamageFound:
        return None
    return next((node.lang for node in nodes if isinstance(node, Page)), None)


def _entry(entry: HistoryEntry) -> Mapping[str, Any]:
    return {name: value for name, value in to_record(entry).items() if name not in ("source", "uri", "seq")}
