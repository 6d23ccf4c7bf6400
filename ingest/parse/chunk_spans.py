"""A section > its chunks: text by blocks, tables by rows under their header, code whole if it fits."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from ingest.parse.chunking import TINY, CountTokens, Span, says_little, split_spans
from ingest.parse.outline import Stretch

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
            if room and not self._fits(table.start, table.end):
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

    def _fits(self, start: int, end: int) -> bool:
        return self._holds(self.text[start:end])

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
