"""A section > the pieces that its chunks are cut from: every entry of a definition list is one of its own."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from ingest.parse.chunking import says_little
from ingest.parse.outline import EntrySpan

Names = tuple[str, ...]
Measure = Callable[[Names, int, int], int]
"""Tokens of a stretch of the section, under the names of the entries around it."""


@dataclass(frozen=True, slots=True)
class EntryPiece:
    """A stretch that no chunk reaches beyond. `names` are those of the entries it stands in, outermost first.

    `anchor` is the id of the entry that begins it. `whole` are spans of entries that share the piece, which
    are cut only where one does not fit. `level` is how many entries it stands in.
    """

    start: int
    end: int
    names: Names = ()
    anchor: str | None = None
    level: int = 0
    begins: bool = False
    whole: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much fits: `measure` counts, `limit` is for the headings and *names* over it, `tiny` for crumbs."""

    measure: Callable[[int, int], int]
    limit: Callable[[Names], int]
    tiny: int

    def holds(self, start: int, end: int, names: Names) -> bool:
        """Whether a stretch fits into one chunk."""
        return self.measure(start, end) <= self.limit(names)


def part_by_entries(text: str, entries: Sequence[EntrySpan], room: Room) -> tuple[EntryPiece, ...]:
    """Return the pieces of a text, in order and apart, that hold all of it.

    What has an id of its own begins a piece, so that a citation opens there. An entry without one stays in
    what is around it where that fits into one chunk as a whole; else it is a piece, and neighbours under
    *tiny* tokens share one. What is short and has no id is none.
    """
    if not entries:
        return (EntryPiece(0, len(text)),)
    pieces = _joined(_Parting(text, room).inside(0, len(text), entries, (), 0), room)
    return _without_short(pieces, text, room)


@dataclass(frozen=True, slots=True)
class _Parting:
    text: str
    room: Room

    def inside(
        self,
        start: int,
        end: int,
        entries: Sequence[EntrySpan],
        names: Names,
        level: int,
        head: EntrySpan | None = None,
    ) -> Iterator[EntryPiece]:
        """Part a stretch at the *entries* in it; *head* is the entry that it is."""
        anchor = head.anchor if head else None
        stays = not self._is_one(start, end, entries) and self.room.holds(start, end, names)
        if not _has_anchor(entries) and (not entries or stays):
            yield EntryPiece(start, end, names, anchor, level, begins=head is not None)
            return
        at, begins = start, head is not None
        for entry, inner in _tops(entries):
            if self.text[at : entry.start].strip():
                yield EntryPiece(at, entry.start, names, anchor, level, begins=begins)
            own = (*names, entry.name) if entry.name else names
            yield from self.inside(entry.start, entry.end, inner, own, level + 1, entry)
            at, anchor, begins = entry.end, None, False
        if self.text[at:end].strip():
            yield EntryPiece(at, end, names, anchor, level, begins=begins)

    def _is_one(self, start: int, end: int, entries: Sequence[EntrySpan]) -> bool:
        """Whether a stretch is one entry and nothing else."""
        around = [self.text[start : entries[0].start], self.text[entries[0].end : end]] if entries else [""]
        return bool(entries) and not "".join(around).strip()


def _has_anchor(entries: Sequence[EntrySpan]) -> bool:
    return any(entry.anchor for entry in entries)


def _tops(entries: Sequence[EntrySpan]) -> Iterator[tuple[EntrySpan, tuple[EntrySpan, ...]]]:
    """The outermost entries, each with those inside it."""
    at = 0
    while at < len(entries):
        top, first = entries[at], at + 1
        at = first
        while at < len(entries) and entries[at].start < top.end:
            at += 1
        yield top, tuple(entries[first:at])


def _joined(pieces: Iterator[EntryPiece], room: Room) -> Iterator[EntryPiece]:
    """Put neighbouring crumbs without ids together, and the line over a list with its first entry."""
    held: EntryPiece | None = None
    for run in _crumbs(pieces, room):
        piece = run[0] if len(run) == 1 else _shared(run)
        if held is not None:
            joined = replace(
                held,
                end=piece.end,
                names=held.names if held.begins else piece.names,
                whole=_whole(held, piece),
            )
            inside = piece.level > held.level and piece.anchor is None
            if inside and room.holds(joined.start, joined.end, joined.names):
                held = None
                yield joined
                continue
            yield held
            held = None
        if _leads_in(piece, room):
            held = piece
        else:
            yield piece
    if held is not None:
        yield held


def _without_short(pieces: Iterator[EntryPiece], text: str, room: Room) -> tuple[EntryPiece, ...]:
    """Put each short piece to the one before it, else to the one behind, whose name and id stay."""
    kept: list[EntryPiece] = []
    for piece in pieces:
        joined = _with_short(kept[-1], piece, text) if kept else None
        if joined is not None and room.holds(joined.start, joined.end, joined.names):
            kept[-1] = joined
        else:
            kept.append(piece)
    return tuple(kept)


def _with_short(before: EntryPiece, after: EntryPiece, text: str) -> EntryPiece | None:
    """Both as one piece, if one is short and has no id, and is part of what the other is about; else None."""
    whole = _whole(before, after)
    if _is_short(after, text) and _is_within(after, before) and not _is_short(before, text):
        return replace(before, end=after.end, whole=whole)
    if _is_short(before, text) and _is_within(before, after) and not _is_short(after, text):
        return replace(after, start=before.start, whole=whole)
    return None


def _is_within(piece: EntryPiece, host: EntryPiece) -> bool:
    return piece.anchor is None and piece.names[: len(host.names)] == host.names


def _is_short(piece: EntryPiece, text: str) -> bool:
    return says_little(text[piece.start : piece.end].strip())


def _crumbs(pieces: Iterator[EntryPiece], room: Room) -> Iterator[list[EntryPiece]]:
    """Group neighbouring entries of one list that are tiny and have no id; all other pieces are alone."""
    for (are_crumbs, _), group in groupby(pieces, key=lambda piece: (_is_crumb(piece, room), piece.level)):
        if are_crumbs:
            yield list(group)
        else:
            yield from ([piece] for piece in group)


def _is_crumb(piece: EntryPiece, room: Room) -> bool:
    return piece.begins and piece.anchor is None and room.measure(piece.start, piece.end) < room.tiny


def _shared(run: Sequence[EntryPiece]) -> EntryPiece:
    """One piece of several entries, named for what they stand in."""
    first, last = run[0], run[-1]
    common = first.names
    for piece in run[1:]:
        common = tuple(a for a, b in zip(common, piece.names, strict=False) if a == b)
    return EntryPiece(
        first.start,
        last.end,
        common,
        None,
        first.level,
        begins=False,
        whole=tuple((piece.start, piece.end) for piece in run),
    )


def _whole(*pieces: EntryPiece) -> tuple[tuple[int, int], ...]:
    return tuple(span for piece in pieces for span in piece.whole)


def _leads_in(piece: EntryPiece, room: Room) -> bool:
    """Whether a piece is only a line over a list, or a term over the list that explains it."""
    return not piece.whole and room.measure(piece.start, piece.end) < room.tiny
