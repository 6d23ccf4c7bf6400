"""A section > the spans that its chunks are cut from: text, tables, code, definition lists."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from ingest.parse.chunking import TINY, CountTokens, Span, says_little, split_spans
from ingest.parse.outline import EntrySpan, Stretch

LONG = 16
"""Signs per token above which a text is too long without being counted."""


_EVEN = 0.7
"""Share of the limit for two chunks that are cut anew: half of what both have, and some play."""


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """A stretch [start, end) of a section; `header` repeats the header rows of the table it goes on with.

    `tail` are short sections behind it that are read with it, each a heading and what stands under it.
    """

    start: int
    end: int
    header: str = ""
    tail: str = ""

    def text_of(self, section: str) -> str:
        """What the chunk says: the table's header, its own stretch, the short sections behind it."""
        own = section[self.start : self.end]
        text = f"{self.header}\n{own}" if self.header else own
        return f"{text}\n\n{self.tail}" if self.tail else text

    def offset_of(self, at: int) -> int:
        """Where an offset of the section is in what the chunk says."""
        return at - self.start + (len(self.header) + 1 if self.header else 0)


def cut_chunks(
    text: str, stretches: tuple[Stretch, ...], *, max_tokens: int, count_tokens: CountTokens
) -> tuple[ChunkSpan, ...]:
    """Return the chunks of *text* in order; none is over *max_tokens*.

    A table that does not fit is cut between rows, and each part but the first repeats the header and the row
    that it stands under, unless they take half of the room. What is shorter than a sixth of the limit joins
    its neighbour; where that is full, both are cut anew for what is short.
    """
    cutter = _Cutter(text, stretches, max_tokens, count_tokens)
    return cutter.evened(cutter.merged(list(cutter.spans())))


@dataclass(frozen=True, slots=True)
class _Cutter:
    text: str
    stretches: tuple[Stretch, ...]
    limit: int
    count: CountTokens

    def spans(self) -> Iterator[ChunkSpan]:
        at = 0
        for table in self.stretches:
            room = self._room(table)
            if room and not self._holds(self.text[table.start : table.end]):
                yield from self._running(at, table.start)
                yield from self._rows(table, room)
                at = table.end
        yield from self._running(at, len(self.text))

    def merged(self, spans: list[ChunkSpan]) -> Iterator[ChunkSpan]:
        """Join a tiny chunk with the next, or else with the one before, where both fit together."""
        held: ChunkSpan | None = None
        for span in spans:
            joined = self._joined(held, span)
            if joined is None and held is not None:
                yield held
            held = joined or span
        if held is not None:
            yield held

    def evened(self, spans: Iterator[ChunkSpan]) -> tuple[ChunkSpan, ...]:
        """Cut what is short and the chunk before it anew, at a place that leaves more of both."""
        kept: list[ChunkSpan] = []
        for span in spans:
            before = kept[-1] if kept else None
            if (
                before is None
                or before.header
                or span.header
                or not (self._is_short(before) or self._is_short(span))
            ):
                kept.append(span)
                continue
            again = list(self._running(before.start, span.end, int(self.limit * _EVEN)))
            kept[-1:] = [before, span] if any(map(self._is_short, again)) else again
        return tuple(kept)

    def _joined(self, before: ChunkSpan | None, after: ChunkSpan) -> ChunkSpan | None:
        if before is None or after.header:
            return None
        if not (self._is_tiny(before) or self._is_tiny(after)):
            return None
        joined = ChunkSpan(before.start, after.end, before.header)
        return joined if self._holds(joined.text_of(self.text)) else None

    def _is_tiny(self, span: ChunkSpan) -> bool:
        return self.count(span.text_of(self.text)) < self.limit * TINY

    def _is_short(self, span: ChunkSpan) -> bool:
        return says_little(self.text[span.start : span.end])

    def _room(self, stretch: Stretch) -> int:
        """Tokens left for rows beside the header; 0 for code and for tables whose header takes too much."""
        if stretch.header_end == stretch.start:
            return 0
        key = max((self.text[start:end] for start, end in stretch.keys), key=len, default="")
        room = self.limit - self.count(self.text[stretch.start : stretch.header_end] + key) - 1
        return room if room >= self.limit // 2 else 0

    def _holds(self, text: str) -> bool:
        return len(text) <= self.limit * LONG and self.count(text) <= self.limit

    def _running(self, start: int, end: int, limit: int | None = None) -> Iterator[ChunkSpan]:
        inside = (stretch for stretch in self.stretches if start <= stretch.start and stretch.end <= end)
        solid = tuple((stretch.start - start, stretch.end - start) for stretch in inside)
        for span in self._split(start, end, limit or self.limit, solid):
            yield ChunkSpan(*span)

    def _rows(self, table: Stretch, room: int) -> Iterator[ChunkSpan]:
        header = self.text[table.start : table.header_end]
        first = True
        for start, end in self._split(table.header_end, table.end, room, ()):
            yield (
                ChunkSpan(table.start, end)
                if first
                else ChunkSpan(start, end, header + self._key(table, start))
            )
            first = False

    def _key(self, table: Stretch, at: int) -> str:
        """The row that stands over those from *at* on, unless they begin with it."""
        before = bisect_right(table.keys, (at, at)) - 1
        start, end = table.keys[before] if before >= 0 else (at, at)
        return f"\n{self.text[start:end]}" if start < at else ""

    def _split(self, start: int, end: int, limit: int, solid: tuple[Span, ...]) -> Iterator[Span]:
        spans = split_spans(self.text[start:end], max_tokens=limit, count_tokens=self.count, solid=solid)
        for span in spans:
            yield start + span[0], start + span[1]


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
        if not any(entry.anchor for entry in entries) and (not entries or stays):
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
        if not piece.whole and room.measure(piece.start, piece.end) < room.tiny:
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
