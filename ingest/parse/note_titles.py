"""Notes that are cut: each part says what the note is, as each part of a table says what its columns are."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ingest.parse.chunk_spans import ChunkSpan
from ingest.parse.chunking import CountTokens, split_spans
from ingest.parse.outline import BoxSpan

_MOST = 0.5
"""Share of a chunk that a title may take, together with the header of a table; a longer one is text."""


@dataclass(frozen=True, slots=True)
class NoteTitles:
    """The notes of a section, outer ones before those in them, and how long a chunk may be."""

    text: str
    boxes: Sequence[BoxSpan]
    count: CountTokens

    def repeated(self, spans: Iterable[ChunkSpan], limit: int) -> Iterator[ChunkSpan]:
        """Put its title over each span that goes on with a note; one that gets too long so is cut again.

        Where title and table header together leave no half of the chunk to the rows, the header stays alone.
        """
        for span in spans:
            title = self._title_at(span.start)
            above = "\n".join(filter(None, (title, span.header)))
            if not title or self.count(above) > limit * _MOST:
                yield span
                continue
            named = replace(span, header=above)
            if self.count(named.text_of(self.text)) <= limit:
                yield named
            else:
                yield from self._parts(span, above, limit)

    def _title_at(self, at: int) -> str:
        """The title of the innermost note that began before *at* and has not ended."""
        inside = (box for box in self.boxes if box.title_end <= at < box.end and box.start < at)
        last = max(inside, key=lambda box: (box.start, -box.end), default=None)
        return "" if last is None else self.text[last.start : last.title_end].strip()

    def _parts(self, span: ChunkSpan, above: str, limit: int) -> Iterator[ChunkSpan]:
        """Cut a span that is too long under *above*; parts behind the first may stand in other notes."""
        room = limit - self.count(above) - 1
        own = self.text[span.start : span.end]
        cuts = split_spans(own, max_tokens=room, count_tokens=self.count)
        first, *rest = (replace(span, start=span.start + start, end=span.start + end) for start, end in cuts)
        yield replace(first, header=above)
        yield from self.repeated(rest, limit)
