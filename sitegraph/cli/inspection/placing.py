"""Which chunk each block of a page's text came to be in."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from ingest.parse.html.traced import BlockStatus, PageTrace, TracedBlock
from sitegraph.cli.inspection.report import BlockShown, ChunkShown, SectionShown

_SHORT = 12
_NEAR = 4_000
"""Letters: a text that short is found everywhere, so it does not move the place from which the next is
sought, and each is sought this near to the one before first."""

_MOST_MISSES = 1_000
"""Texts sought in vain in a whole document, from which on the next are only sought near, for want of time."""

_NO_LETTER = re.compile(r"[\W_]+")


def place_blocks(
    page: PageTrace, chunks: Sequence[ChunkShown], sections: Sequence[SectionShown]
) -> tuple[BlockShown, ...]:
    """Find every block that was read among the chunks, or a heading among the sections, in order.

    Letters and digits alone are compared, since list marks, table rows and line breaks are made again. Of a
    document without chunks nothing is lost.
    """
    placer = _Placer(chunks, sections)
    return tuple(map(placer.place, page.blocks))


def _key(text: str) -> str:
    return _NO_LETTER.sub("", text).lower()


@dataclass(slots=True)
class _Placer:
    chunks: Sequence[ChunkShown]
    sections: Sequence[SectionShown]
    whole: str = field(init=False)
    starts: list[int] = field(init=False)
    headings: list[str] = field(init=False)
    cursor: int = 0
    section: int = 0
    misses: int = 0

    def __post_init__(self) -> None:
        keys = [_key(chunk.text) for chunk in self.chunks]
        self.whole = "".join(keys)
        self.starts = list(accumulate(map(len, keys[:-1]), initial=0))
        self.headings = [_key(section.heading) for section in self.sections]

    def place(self, block: TracedBlock) -> BlockShown:
        """Return the block as it is shown."""
        key = _key(block.text)
        sought = block.verdict is BlockStatus.READ and key != ""
        chunk, found = self._look_up(key, is_heading=block.level > 0) if sought else (None, True)
        return BlockShown(
            text=block.text,
            verdict=block.verdict,
            reason=block.reason,
            element=block.culprit or block.place,
            level=block.level,
            words=block.words,
            voted=block.voted,
            chunk=chunk,
            lost=not found and bool(self.chunks),
        )

    def _look_up(self, key: str, *, is_heading: bool) -> tuple[int | None, bool]:
        """The chunk, and whether the text was found: a heading may head a section without a chunk."""
        if is_heading and self._heads_section(key):
            return next(iter(self.sections[self.section].chunks), None), True
        chunk = self._chunk_of(key)
        return chunk, chunk is not None

    def _heads_section(self, key: str) -> bool:
        """A heading may have lost its number: the section's is its end."""
        for number in self._in_turn():
            heading = self.headings[number]
            if heading and key.endswith(heading):
                self.section = number
                return True
        return False

    def _in_turn(self) -> Iterator[int]:
        after = min(self.section + 1, len(self.headings))
        yield from range(after, len(self.headings))
        yield from range(after)

    def _chunk_of(self, key: str) -> int | None:
        """The chunk that contains the text, or most of it: cells and notes may stand between its parts."""
        most = len(key) * 2 // 3
        for part in dict.fromkeys((key, key[:most], key[-most:])):
            at = self._find(part)
            if at >= 0:
                if len(part) >= _SHORT:
                    self.cursor = at + len(part)
                return bisect_right(self.starts, at) - 1
        self.misses += 1
        return None

    def _find(self, key: str) -> int:
        """Where the text is: soon after the one before, else shortly before it, else anywhere."""
        if not key:
            return -1
        near = (self.cursor, self.cursor + _NEAR), (max(0, self.cursor - _NEAR), self.cursor + _NEAR)
        ranges = (*near, (0, len(self.whole))) if self.misses < _MOST_MISSES else near
        found = (self.whole.find(key, *bounds) for bounds in ranges)
        return next((at for at in found if at >= 0), -1)
