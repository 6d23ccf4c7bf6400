"""Sections of a page > its chunks, short sections with their neighbours."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, takewhile
from typing import Any, TypeVar

from ingest.parse.chunk_spans import ChunkSpan, EntryPiece, Room, cut_chunks, part_by_entries
from ingest.parse.chunking import (
    MAX_TOKENS,
    TINY,
    CountTokens,
    Span,
    document_codes,
    extract_codes,
    says_little,
    split_spans,
    text_budget,
)
from ingest.parse.links import place_behind, place_in_chunk
from ingest.parse.outline import BLOCK_JOINT, LINE_JOINT, MAX_DEPTH, BoxSpan, OutlineSection, Stretch
from ingest.parse.page_graph import PageFacts, PageGraph
from schemas.edges import EdgeKind
from schemas.fragment import LinkPlace


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


T = TypeVar("T")

MAX_FRAGMENTS = 200
"""Further ids kept of one chunk; a page made of empty anchors has more, and none of them matters."""


def add_chunks(
    graph: PageGraph, outline: tuple[OutlineSection, ...], facts: PageFacts, count_tokens: CountTokens
) -> None:
    """Cut the sections of *graph* into chunks, each with its heading path, ids, codes and links."""
    base = graph.blank_chunk(
        facts.kind,
        facts.lang,
        breadcrumbs=facts.breadcrumbs,
        doc_id=facts.doc_id,
        codes=document_codes(facts.doc_id),
        template_type=facts.template_type,
        structure_confidence=facts.structure_confidence,
    )
    plan = ChunkPlan(outline, count_tokens)
    for planned in plan_chunks(plan, (_spans(section, count_tokens) for section in outline)):
        section, node = outline[planned.index], graph.sections[planned.index]
        joined = [outline[index] for index in planned.above]
        own = _fragments(section, planned.span.start, planned.end)
        behind = (_fragments(outline[index], 0, len(outline[index].text) + 1) for index, _ in planned.behind)
        fragment = _fragment_at(section, planned.piece, planned.span.start)
        names = (*(name for one in joined for name in _fragments(one, 0, 1)), *own, *chain(*behind))
        numbered = filter(None, (one.number for one in (*joined, section)))
        headings = (*numbered, *(one.heading for one in joined), section.heading)
        # One replace for all: a row takes long to copy.
        chunk = replace(
            base,
            section=section.heading or None,
            section_id=node.id,
            page_kind=graph.kind_of(section),
            parent_ids=_parents(graph, outline, planned.index),
            ordinal=len(graph.chunks),
            fragment=fragment,
            fragments=tuple(name for name in names if name != fragment)[:MAX_FRAGMENTS],
            **_said(graph, base.codes, section, planned, headings, count_tokens),
        )
        if section.page in graph.silent:
            graph.left_out.add(chunk.id)
        else:
            graph.add_chunk(chunk, cut_from=node.id)
        for index, at in planned.behind:
            if section.page not in graph.silent:
                graph.join(EdgeKind.CONTAINS, graph.sections[index].id, chunk.id)
            graph.places.extend(place_behind(outline[index], at, chunk.id))
        for one in joined:
            graph.places.extend((link, LinkPlace(chunk=chunk.id)) for link in one.heading_links)
        graph.places.extend(place_in_chunk(section, planned.span, planned.end, chunk.id))


def _spans(section: OutlineSection, count_tokens: CountTokens) -> Iterator[tuple[EntryPiece, ChunkSpan]]:
    """Cut a section into chunks, none of which reaches beyond its piece."""
    room = Room(
        measure=lambda start, end: count_tokens(section.text[start:end]),
        limit=lambda names: text_budget((*section.heading_path, *names), count_tokens),
        tiny=int(MAX_TOKENS * TINY),
    )
    titles = NoteTitles(section.text, section.boxes, count_tokens)
    for piece in part_by_entries(section.text, section.entries, room):
        limit = room.limit(piece.names)
        spans = cut_chunks(
            section.text[piece.start : piece.end],
            _stretches_in(section, piece),
            max_tokens=limit,
            count_tokens=count_tokens,
        )
        if piece.start:
            spans = tuple(
                replace(one, start=one.start + piece.start, end=one.end + piece.start) for one in spans
            )
        for span in titles.repeated(spans, limit) if section.boxes else spans:
            yield piece, span


def _stretches_in(section: OutlineSection, piece: EntryPiece) -> tuple[Stretch, ...]:
    """What of a piece is not running text, and the entries that share it; offsets are those of the piece."""
    first = bisect_left(section.stretches, piece.start, key=lambda one: one.start)
    begun = takewhile(lambda one: one.start <= piece.end, islice(section.stretches, first, None))
    inside = [one for one in begun if one.end <= piece.end]
    apart = [
        Stretch(start, end, start)
        for start, end in piece.whole
        if not any(start < one.end and one.start < end for one in inside)
    ]
    return tuple(one.moved(-piece.start) for one in sorted([*inside, *apart], key=lambda one: one.start))


def _said(
    graph: PageGraph,
    own_codes: tuple[str, ...],
    section: OutlineSection,
    planned: PlannedChunk,
    headings: tuple[str, ...],
    count_tokens: CountTokens,
) -> dict[str, Any]:
    """Return the fields of a chunk that follow from its text and the headings over it."""
    span, names = planned.span, planned.piece.names
    text, path = span.text_of(section.text), (*section.heading_path, *names)
    captions = tuple(dict.fromkeys(name for _, _, name in _met(span, section.captions, lambda one: one[:2])))
    languages = (one.language for one in _met(span, section.stretches, lambda one: (one.start, one.end)))
    return graph.said(path, text, captions, count_tokens) | {
        "offsets": (span.start, span.end),
        "codes": tuple(sorted({*own_codes, *extract_codes("\n".join((*headings, *names, text)))})),
        "code_languages": tuple(dict.fromkeys(name for name in languages if name is not None)),
    }


def _met(span: ChunkSpan, places: tuple[T, ...], ends_of: Callable[[T], Span]) -> Iterator[T]:
    """Yield which of *places*, that stand in order and apart, share text with a chunk."""
    first = bisect_right(places, span.start, key=lambda one: ends_of(one)[1])
    return takewhile(lambda one: ends_of(one)[0] < span.end, islice(places, first, None))


def _fragments(section: OutlineSection, start: int, end: int) -> tuple[str, ...]:
    """Ids from *start* to before *end*; the section's first chunk also has those of its heading."""
    low = bisect_right(section.anchors, start - 1, key=lambda anchor: anchor[0]) if start else 0
    high = bisect_right(section.anchors, end - 1, key=lambda anchor: anchor[0])
    inside = [name for _, name in section.anchors[low:high]]
    is_first = not section.text[:start].strip()
    above = [*section.aliases, *([section.fragment] if section.fragment else [])] if is_first else []
    return tuple(dict.fromkeys((*above, *inside)))


def _fragment_at(section: OutlineSection, piece: EntryPiece, offset: int) -> str | None:
    """The id of the entry that begins at *offset*, else the nearest id at or before it in the section, else
    that of its heading or the one above.
    """
    if piece.anchor is not None and not section.text[piece.start : offset].strip():
        return piece.anchor
    after = bisect_right(section.anchors, offset, key=lambda anchor: anchor[0])
    return section.anchors[after - 1][1] if after else section.nearest_fragment


def _parents(graph: PageGraph, outline: tuple[OutlineSection, ...], index: int) -> tuple[str, ...]:
    """Ids from the document over its part down to the section itself, as many as a path has headings."""
    above: list[str] = []
    at: int | None = index
    while at is not None:
        above.append(graph.sections[at].id)
        at = outline[at].parent if len(above) < MAX_DEPTH else None
    return tuple(dict.fromkeys((graph.doc, graph.page_of(outline[index]), *reversed(above))))
