"""Which chunk each block of a page's text came to be in."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from flows.inspection.report import BlockShown, ChunkShown, SectionShown
from ingest.parse.html.trace import TracedBlock, Verdict

_SHORT = 12
_NEAR = 4_000
"""Signs: a text that short is found everywhere, so it is only looked for this far from the one before."""

_NO_LETTER = re.compile(r"[\W_]+")


def place_blocks(
    blocks: Iterable[TracedBlock], chunks: Sequence[ChunkShown], sections: Sequence[SectionShown]
) -> tuple[BlockShown, ...]:
    """Find every block that was read among the chunks, or a heading among the sections, in order.

    Letters and digits alone are compared, since list marks, table rows and line breaks are made anew.
    """
    placer = _Placer(chunks, sections)
    return tuple(placer.place(block) for block in blocks)


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

    def __post_init__(self) -> None:
        keys = [_key(chunk.text) for chunk in self.chunks]
        self.whole = "".join(keys)
        self.starts = list(accumulate(map(len, keys[:-1]), initial=0))
        self.headings = [_key(section.heading) for section in self.sections]

    def place(self, block: TracedBlock) -> BlockShown:
        """Give the block as it is shown."""
        key = _key(block.text)
        chunk, lost = None, False
        if block.verdict is Verdict.READ and key:
            chunk = self._chunk_of(key) if not block.level else None
            heads = chunk is None and self._heads_section(key)
            if heads:
                chunk = next(iter(self.sections[self.section].chunks), None)
            elif chunk is None:
                chunk = self._chunk_of(key)
            lost = chunk is None and not heads
        return BlockShown(
            text=block.text,
            verdict=block.verdict,
            reason=block.reason,
            element=block.culprit or block.place,
            level=block.level,
            words=block.words,
            voted=block.voted,
            chunk=chunk,
            lost=lost,
        )

    def _heads_section(self, key: str) -> bool:
        """A heading may have lost its number: the section's is its end."""
        for number in self._in_turn():
            heading = self.headings[number]
            if heading and key.endswith(heading):
                self.section = number
                return True
        return False

    def _in_turn(self) -> Iterator[int]:
        yield from range(self.section + 1, len(self.headings))
        yield from range(min(self.section + 1, len(self.headings)))

    def _chunk_of(self, key: str) -> int | None:
        if not self.chunks:
            return None
        reach = self.cursor + _NEAR if len(key) < _SHORT else len(self.whole)
        at = self.whole.find(key, self.cursor, reach)
        if at < 0:
            at = self.whole.find(key, max(0, self.cursor - _NEAR) if len(key) < _SHORT else 0)
        if at < 0:
            return None
        self.cursor = at + len(key) if at >= self.cursor else self.cursor
        return bisect_right(self.starts, at) - 1
