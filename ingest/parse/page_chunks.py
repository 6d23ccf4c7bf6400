"""Sections of a page > its chunks."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, islice, takewhile
from typing import Any, TypeVar

from ingest.parse.chunk_spans import ChunkSpan, cut_chunks
from ingest.parse.chunking import MAX_TOKENS, TINY, CountTokens, Span, text_budget
from ingest.parse.codes import document_codes, extract_codes
from ingest.parse.entry_spans import EntryPiece, Room, part_by_entries
from ingest.parse.link_places import place_behind, place_in_chunk
from ingest.parse.note_titles import NoteTitles
from ingest.parse.outline import MAX_DEPTH, OutlineSection, Stretch
from ingest.parse.page_facts import PageFacts
from ingest.parse.page_graph import PageGraph
from ingest.parse.short_sections import ChunkPlan, PlannedChunk, plan_chunks
from schemas.edges import EdgeKind
from schemas.fragment import LinkPlace
from schemas.hashing import record_sha256
from schemas.ids import Occurrences, chunk_id, normalise_text
from schemas.nodes import Chunk

T = TypeVar("T")

MAX_FRAGMENTS = 200
"""Further ids kept of one chunk; a page made of empty anchors has more, and none of them matters."""


def add_chunks(
    graph: PageGraph, outline: tuple[OutlineSection, ...], facts: PageFacts, count_tokens: CountTokens
) -> None:
    """Cut the sections of *graph* into chunks, each with its heading path, ids, codes and links."""
    base = _chunk_of_page(graph, facts)
    occurrences = Occurrences()
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
            **_said(base, section, planned, headings, occurrences, count_tokens),
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
        moved = (replace(one, start=one.start + piece.start, end=one.end + piece.start) for one in spans)
        for span in titles.repeated(moved, limit) if section.boxes else moved:
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


def _chunk_of_page(graph: PageGraph, facts: PageFacts) -> Chunk:
    """A chunk with all that the chunks of one page share."""
    request = graph.request
    return Chunk(
        id="",
        kind=facts.kind,
        source=request.source,
        doc=graph.doc,
        text="",
        content_hash="",
        ordinal=0,
        offsets=(0, 0),
        token_count=0,
        breadcrumbs=facts.breadcrumbs,
        doc_id=facts.doc_id,
        codes=document_codes(facts.doc_id),
        doc_type=request.doc_type,
        domain=request.domain,
        status=request.status,
        version=request.version,
        url=request.url,
        file_path=request.path,
        lang=facts.lang or request.language,
        template_type=facts.template_type,
        structure_confidence=facts.structure_confidence,
    )


def _said(
    base: Chunk,
    section: OutlineSection,
    planned: PlannedChunk,
    headings: tuple[str, ...],
    occurrences: Occurrences,
    count_tokens: CountTokens,
) -> dict[str, Any]:
    """Return the fields of a chunk that follow from its text and the headings over it."""
    span, names = planned.span, planned.piece.names
    text, path = span.text_of(section.text), (*section.heading_path, *names)
    captions = tuple(dict.fromkeys(name for _, _, name in _met(span, section.captions, _ends_of_caption)))
    languages = (one.language for one in _met(span, section.stretches, _ends_of_stretch))
    number = occurrences.number(*path, normalise_text(text))
    return {
        "id": chunk_id(base.doc, path, text, number),
        "text": text,
        "content_hash": record_sha256([path, text, captions]),
        "token_count": count_tokens(text),
        "offsets": (span.start, span.end),
        "heading_path": path,
        "codes": tuple(sorted({*base.codes, *extract_codes("\n".join((*headings, *names, text)))})),
        "captions": captions,
        "code_languages": tuple(dict.fromkeys(name for name in languages if name is not None)),
    }


def _met(span: ChunkSpan, places: tuple[T, ...], ends_of: Callable[[T], Span]) -> Iterator[T]:
    """Yield which of *places*, that stand in order and apart, share text with a chunk."""
    first = bisect_right(places, span.start, key=lambda one: ends_of(one)[1])
    return takewhile(lambda one: ends_of(one)[0] < span.end, islice(places, first, None))


def _ends_of_caption(caption: tuple[int, int, str]) -> Span:
    return caption[:2]


def _ends_of_stretch(stretch: Stretch) -> Span:
    return stretch.start, stretch.end


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
