"""Sections that say too little for a chunk of their own, and with which chunk they are read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ingest.parse.chunk_spans import ChunkSpan
from ingest.parse.chunking import CountTokens, says_little, text_budget
from ingest.parse.entry_spans import EntryPiece
from ingest.parse.outline import BLOCK_JOINT, LINE_JOINT, OutlineSection


@dataclass(slots=True)
class PlannedChunk:
    """A chunk before it has an id: where it is cut from, up to where ids and links are its own.

    `above` are headings with nothing but sections under them, the first of which is its own; `behind` are
    short sections that are read with it, with the offset of each in its text.
    """

    index: int
    piece: EntryPiece
    span: ChunkSpan
    end: int
    above: list[int] = field(default_factory=list)
    behind: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ChunkPlan:
    """What is cut from the sections of a page, and which of these are read with a neighbour."""

    outline: Sequence[OutlineSection]
    count_tokens: CountTokens

    def chunks(self, placed: Iterator[tuple[EntryPiece, ChunkSpan]], index: int) -> list[PlannedChunk]:
        """Return the chunks of one section."""
        cut = list(placed)
        ends = [span.start for _, span in cut[1:]]
        ends.append(len(self.outline[index].text) + 1)
        return [PlannedChunk(index, *one, end) for one, end in zip(cut, ends, strict=True)]

    def is_only_above(self, index: int) -> bool:
        """Whether a section is a short heading over the next: all paths below it say what it would say."""
        section, after = self.outline[index], index + 1
        is_bare = bool(section.heading) and section.text == section.heading and says_little(section.text)
        return is_bare and after < len(self.outline) and self.outline[after].parent == index

    def is_short(self, chunk: PlannedChunk) -> bool:
        """Whether a chunk says nothing by itself."""
        return says_little(self.outline[chunk.index].text[chunk.span.start : chunk.span.end])

    def read_with(self, before: PlannedChunk, own: PlannedChunk) -> bool:
        """Put a short section without an id to the chunk *before* it, on the same page and where both fit.

        One with an id is cited by itself, under its own heading. Two that are short make no passage, and stay
        apart.
        """
        section, host = self.outline[own.index], self.outline[before.index]
        if (
            self.is_short(before)
            or not self.is_short(own)
            or section.fragment is not None
            or section.parent is None
            or host.page != section.page
        ):
            return False
        lines = (section.heading, section.text) if section.text != section.heading else (section.heading,)
        tail = BLOCK_JOINT.join(filter(None, (before.span.tail, LINE_JOINT.join(lines))))
        joined = replace(before.span, tail=tail)
        text = joined.text_of(host.text)
        if self.count_tokens(text) > text_budget(
            (*host.heading_path, *before.piece.names), self.count_tokens
        ):
            return False
        before.span = joined
        before.behind.append((own.index, len(text) - len(section.text)))
        return True


def plan_chunks(plan: ChunkPlan, cut: Iterator[Iterator[tuple[EntryPiece, ChunkSpan]]]) -> list[PlannedChunk]:
    """Return the chunks of all sections in reading order.

    Args: cut: pieces and spans of each section.
    """
    chunks: list[PlannedChunk] = []
    above: list[PlannedChunk] = []
    for index, placed in enumerate(cut):
        own = plan.chunks(placed, index)
        if plan.is_only_above(index):
            above.extend(own)
            continue
        if above and own and not plan.is_short(own[0]):
            own[0].above = [one.index for one in above]
        elif above:
            chunks.extend(above)
        elif chunks and len(own) == 1 and plan.read_with(chunks[-1], own[0]):
            continue
        above = []
        chunks.extend(own)
    return [*chunks, *above]
