"""What happened to a document: its state now, and what each generation changed in it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from indexes.wiring import Readers
from schemas.changes import FeedChange, FeedEntry, FeedKind
from schemas.documents import ASLEEP, READABLE, Ancestor, DocumentState, HistoryEntry, KnownDocument
from schemas.errors import SitegraphError
from schemas.nodes import Chunk
from schemas.records import show_as
from sitegraph.actions.archive import LedgerArchive, Past
from sitegraph.actions.word_difference import Piece, compare
from sitegraph.service.viewer.citation import read_former, trail_of

GENERATIONS_MAX, DIFFS_MAX, LOOKS_MAX = 20, 30, 20
"""What one page shows: generations, passages compared, looks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentStanding:
    """Where a document stands: `word` is fresh, due, quarantined, or its state where that says more."""

    word: str
    source: str
    state: DocumentState
    reason: str
    http_status: int | None
    checked_at: str | None
    next_due: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageText:
    """What a passage said, and the headings above it where its generation is still kept."""

    said: str
    trail: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageChange:
    """What a generation did to a passage; `pieces` are None where one of the texts is kept no longer."""

    change: FeedChange
    old_id: str | None
    new_id: str | None
    reason: str
    trail: tuple[str, ...] = ()
    pieces: tuple[Piece, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What a generation changed in a document; `refreshed` counts passages whose text stayed.

    A document that was new has no `passages`: all of them were, `added` says how many.
    """

    generation: int
    as_of: str
    change: FeedChange | None
    reason: str
    passages: tuple[PassageChange, ...]
    added: int
    refreshed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentHistory:
    """All of it, newest first; `more` counts revisions that are not shown."""

    standings: tuple[DocumentStanding, ...]
    revisions: tuple[Revision, ...]
    more: int
    looks: tuple[HistoryEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What the ledger tells of a document."""

    rows: tuple[KnownDocument, ...]
    entries: tuple[FeedEntry, ...]
    looks: tuple[HistoryEntry, ...]
    line: tuple[Ancestor, ...]


def read_history(readers: Readers, archive: LedgerArchive, doc: str) -> DocumentHistory | None:
    """Return what happened to a document of the generation that is read; None without the ledger."""
    known = archive.past(readers, lambda past: _ask(past, readers.generation, doc))
    # The stores are read apart from the ledger: what they refuse is no fault of the ledger.
    return _history(known, readers, archive) if known else None


def standing_of(known: KnownDocument, *, now: str) -> DocumentStanding:
    """Return where a document stands at *now*, ISO 8601 in UTC."""
    due = known.state not in ASLEEP and (known.next_due is None or known.next_due <= now)
    word = ("due" if due else "fresh") if known.state in READABLE else known.state.value.replace("_", " ")
    next_due = None if known.state in ASLEEP else known.next_due
    return show_as(DocumentStanding, known, word=word, next_due=next_due)


def _ask(past: Past, generation: int, doc: str) -> _Known:
    rows = past.ledger.lookup.by_doc(doc)
    live = past.ledger.generations.live(generation, docs=[doc]).get(doc)
    uri = live.uri if live else (rows[0].uri if rows else doc)
    return _Known(
        rows=rows,
        entries=past.ledger.lineage.of_document(doc, uri, past.numbers),
        looks=tuple(look for row in rows for look in past.ledger.history.of_document(row.source, row.uri)),
        line=past.line,
    )


def _history(known: _Known, readers: Readers, archive: LedgerArchive) -> DocumentHistory:
    shown = sorted({entry.generation for entry in known.entries}, reverse=True)
    ancestors = {one.generation: one for one in known.line}
    texts = _Texts(readers, archive, ancestors)
    looks = sorted(known.looks, key=lambda look: look.until or look.at or "", reverse=True)
    return DocumentHistory(
        standings=tuple(standing_of(row, now=archive.now()) for row in known.rows),
        revisions=tuple(
            revise(ancestors[number], [one for one in known.entries if one.generation == number], texts)
            for number in shown[:GENERATIONS_MAX]
        ),
        more=len(shown[GENERATIONS_MAX:]),
        looks=tuple(looks[:LOOKS_MAX]),
    )


class _Texts:
    """Passages of several generations, each asked for once; of generations that are gone there are none."""

    def __init__(self, readers: Readers, archive: LedgerArchive, ancestors: Mapping[int, Ancestor]) -> None:
        self._readers, self._archive = readers, archive
        self._bases = {number: one.base for number, one in ancestors.items()}
        self._gone: set[int] = set()
        self._left = DIFFS_MAX

    def around(self, generation: int, entries: Sequence[FeedEntry]) -> Mapping[str, PassageText]:
        """Return the passages that *entries* of a generation are about, before and after it."""
        asked = entries[: self._left]
        self._left -= len(asked)
        old = self._at(self._bases.get(generation, 0), {entry.old_id for entry in asked} - {None})
        found = old | self._at(generation, {entry.new_id for entry in asked} - {None})
        texts = {id_: PassageText(said=chunk.text, trail=trail_of(chunk)) for id_, chunk in found.items()}
        named = {id_ for entry in asked for id_ in (entry.old_id, entry.new_id) if id_ is not None}
        former = read_former(self._readers, self._archive, named - texts.keys())
        return {id_: PassageText(said=said) for id_, said in former.items()} | texts

    def _at(self, generation: int, ids: Collection[str | None]) -> dict[str, Chunk]:
        wanted = [id_ for id_ in ids if id_ is not None]
        if not wanted or not generation or generation in self._gone:
            return {}
        now = {chunk.id: chunk for chunk in self._readers.chunks.get(wanted)}
        rest = [id_ for id_ in wanted if id_ not in now]
        if not rest or generation == self._readers.generation:
            return now
        try:
            with self._archive.chunks_at(self._readers, generation) as chunks:
                return now | {chunk.id: chunk for chunk in chunks.get(rest)}
        except SitegraphError:
            self._gone.add(generation)
            return now


def revise(of: Ancestor, entries: Sequence[FeedEntry], texts: _Texts) -> Revision:
    """Return what a generation changed, from its entries about one document."""
    document = next((one for one in entries if one.kind is FeedKind.DOCUMENT), None)
    passages = [one for one in entries if one.kind is FeedKind.CHUNK]
    changed = [one for one in passages if one.change is not FeedChange.REFRESHED]
    is_new = document is not None and document.change is FeedChange.ADDED
    told = [] if is_new else changed
    found = texts.around(of.generation, told)
    return Revision(
        generation=of.generation,
        as_of=of.as_of,
        change=document.change if document else None,
        reason=document.reason if document else "",
        passages=tuple(passage_change(one, found) for one in told),
        added=len(changed) if is_new else 0,
        refreshed=len(passages) - len(changed),
    )


def passage_change(entry: FeedEntry, texts: Mapping[str, PassageText]) -> PassageChange:
    """Return a change with its two texts compared, as far as they are there."""
    old, new = texts.get(entry.old_id or ""), texts.get(entry.new_id or "")
    known = (old is not None or entry.old_id is None) and (new is not None or entry.new_id is None)
    return show_as(
        PassageChange,
        entry,
        trail=(new.trail if new else ()) or (old.trail if old else ()),
        pieces=compare(old.said if old else "", new.said if new else "") if known else None,
    )
