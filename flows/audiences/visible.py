"""Which rows of the whole index's ledger an audience's ledger is to have: pure, over plain rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ingest.diff.moves import follow
from schemas.documents import ASLEEP, READABLE, DocumentState, KnownDocument

_OF_LOOKS: dict[str, Any] = {
    "run_id": None,
    "checked_at": None,
    "interval": None,
    "next_due": None,
    "lastmod_then": None,
    "lastmod_held": None,
    "unmodified": 0,
    "repeats": 0,
    "etag": None,
    "http_status": None,
    "fetched_at": None,
    "reason": "",
}
"""What a look changes that found the document as it was, and what it has then; no generation follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleRows:
    """What an audience has of a source, against what it is to have.

    `rows` are all of them; `save` those that are new or differ, `bring` those of them that are made of other
    files than before, `remove` addresses of those that go.
    `hidden` are those of `remove` that the whole index has and the audience may not see. `changes`: whether
    more differs than when documents were looked at.
    """

    rows: tuple[KnownDocument, ...]
    save: tuple[KnownDocument, ...]
    bring: tuple[KnownDocument, ...]
    remove: tuple[str, ...]
    hidden: tuple[str, ...]
    changes: bool


def plan_visible(
    known: Sequence[KnownDocument],
    held: Mapping[str, KnownDocument],
    *,
    may_see: Callable[[KnownDocument], bool],
) -> VisibleRows:
    """Choose the rows of a source that an audience may have.

    Args: known: all rows of the whole index's ledger; held: those of the audience's, by address; may_see:
    whether its readers may see a row, by its address and what was parsed of it. What was never parsed may say
    whom it is for, so it is left out, but for a redirect that leads to what is seen, or out of the source.
    """
    by_uri = {document.uri: document for document in known}
    parsed = {d.uri for d in known if d.fragment_sha is not None and may_see(d)}
    seen = parsed | {d.uri for d in known if _leads_on(d, by_uri, parsed) and may_see(d)}
    hidden = by_uri.keys() - seen
    rows = tuple(_without_hidden(by_uri[uri], hidden) for uri in sorted(seen))
    save = tuple(row for row in rows if held.get(row.uri) != row)
    remove = tuple(sorted(held.keys() - seen))
    return VisibleRows(
        rows=rows,
        save=save,
        bring=tuple(row for row in save if _files(row) != _files(held.get(row.uri))),
        remove=remove,
        hidden=tuple(uri for uri in remove if uri in by_uri),
        changes=bool(remove) or any(not _is_as_before(row, held.get(row.uri)) for row in save),
    )


def bytes_to_bring(rows: Sequence[KnownDocument]) -> tuple[frozenset[str], frozenset[str]]:
    """Return hashes of fetched bytes, and of what was parsed of them, that these rows are made of.

    Bytes that nobody has read yet may say whom they are for; those with secrets are not kept.
    """
    awake = [row for row in rows if row.state not in ASLEEP]
    raw = {d.raw_sha for d in awake if d.raw_sha and d.parsed_sha == d.raw_sha and not d.is_withheld}
    return frozenset(raw), frozenset(d.fragment_sha for d in awake if d.fragment_sha)


def _files(row: KnownDocument | None) -> tuple[object, ...]:
    """What a row is made of, as far as that decides which files are kept."""
    if row is None:
        return ()
    return row.raw_sha, row.parsed_sha, row.fragment_sha, row.is_withheld, row.state in ASLEEP


def _leads_on(document: KnownDocument, rows: Mapping[str, KnownDocument], seen: set[str]) -> bool:
    if document.state is not DocumentState.REDIRECTED or document.fragment_sha is not None:
        return False
    if document.location not in rows:
        return True
    end = follow(document, rows)
    return end is not None and end.uri in seen


def _without_hidden(row: KnownDocument, hidden: set[str]) -> KnownDocument:
    """Leave out the addresses of documents that are not seen."""
    return replace(
        row,
        location=None if row.location in hidden else row.location,
        found_by=None if row.found_by in hidden else row.found_by,
    )


def _is_as_before(row: KnownDocument, held: KnownDocument | None) -> bool:
    if held is None:
        return False
    if {row.state, held.state} <= READABLE:
        held = replace(held, state=row.state)
    return replace(row, **_OF_LOOKS) == replace(held, **_OF_LOOKS)
