"""Selected chunks to a `ContextBundle`: numbered, cut to the token budget, with citations."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Protocol

from retrieval.ranking.score import Scored
from schemas.evidence import (
    Citation,
    ContextBundle,
    Derivation,
    Evidence,
    Origin,
    PdfLocation,
    Query,
    Scores,
    Summary,
    ToolPlan,
)
from schemas.nodes import Chunk

CountTokens = Callable[[str], int]

SHORTEST_CUT = 24
"""Tokens below which a cut passage says too little; then the last evidence goes instead."""

_BLOCK_END = re.compile(r"\n[ \t]*\n")
_SENTENCE_END = re.compile(r"[.!?…。][\"'”’)\]]*(?=\s|$)")
_WORD_END = re.compile(r"(?<=\S)(?=\s)")
_WHOLE_LINE = re.compile(
    r"\s*\||\s{4}|\t|.*[{};(\\]\s*$|\s*(?:```|~~~|\$ |>>> |[)\]}])|[^.!?]*\t"
    r"|.*\S \| \S|[^\s(]+\([^()]*\)\s*$|\S+ [+:]?= \S"
)
"""A table row or a line of code: kept whole or not at all."""


def fit_budget(texts: Sequence[str], count_tokens: CountTokens, *, budget: int) -> tuple[int, ...]:
    """Return how many characters of each text to keep, in rank order; 0 drops it.

    Short texts stay whole; long ones share what those leave, and what a cut leaves over goes to the
    better ranked. Dropped is the last evidence where shares would fall below 24 tokens, and a passage
    whose first table row or line of code alone is too long.
    """
    sizes = [count_tokens(text) for text in texts]
    while len(sizes) > 1 and sum(sizes) > budget and _fair_share(sizes, budget) < SHORTEST_CUT:
        sizes.pop()
    share, left = _fair_share(sizes, budget), budget
    kept: list[int] = []
    for index, size in enumerate(sizes):
        room = left - sum(min(share, later) for later in sizes[index + 1 :])
        kept.append(len(texts[index]) if size <= room else cut_text(texts[index], count_tokens, limit=room))
        left -= count_tokens(texts[index][: kept[-1]])
    return tuple(kept) + (0,) * (len(texts) - len(kept))


def _fair_share(sizes: Sequence[int], budget: int) -> int:
    """The largest cap L with `sum(min(size, L)) <= budget`; the largest size if all fit."""
    left = budget
    for index, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - index)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)


def cut_text(text: str, count_tokens: CountTokens, *, limit: int) -> int:
    """Return the length of the longest beginning of *text* within *limit* tokens that ends well.

    Best is the end of a block, if that keeps at least half of what the end of a sentence or of a whole
    line keeps; prose without either is cut after a word. 0 if the first code line or table row is too long.
    """
    block = _last_fitting(text, [match.start() for match in _BLOCK_END.finditer(text)], count_tokens, limit)
    sentence = _last_fitting(text, _sentence_ends(text), count_tokens, limit)
    if max(block, sentence):
        return block if 2 * block >= sentence else sentence
    if is_whole_line(text.partition("\n")[0]):
        return 0
    return _last_fitting(text, [match.start() for match in _WORD_END.finditer(text)], count_tokens, limit)


def is_whole_line(line: str) -> bool:
    """Whether a line is the row of a table or code, by its form."""
    return bool(_WHOLE_LINE.match(line))


def _sentence_ends(text: str) -> list[int]:
    """Where code lines and table rows end, and where sentences do in the other lines."""
    ends: list[int] = []
    start = 0
    for line in text.splitlines(keepends=True):
        if is_whole_line(line):
            ends.append(start + len(line))
        else:
            ends += [start + match.end() for match in _SENTENCE_END.finditer(line)]
        start += len(line)
    return ends


def _last_fitting(text: str, ends: Sequence[int], count_tokens: CountTokens, limit: int) -> int:
    """Return the last of *ends* before which *text* contains at most *limit* tokens, by bisection."""
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(text[: ends[middle - 1]]) <= limit:
            low = middle
        else:
            high = middle - 1
    return len(text[: ends[low - 1]].rstrip()) if low else 0


def cut_offsets(offsets: tuple[int, int], text: str, kept: int) -> tuple[int, int]:
    """Let the offsets of a chunk follow a cut of its text to the first *kept* characters.

    A repeated table header stands before what the offsets speak of and moves nothing.
    """
    start, end = offsets
    header = max(0, len(text) - (end - start))
    return (start, end if kept >= len(text) else min(end, start + max(0, kept - header)))


VERSION = 1


class PassageRetriever(Protocol):
    """What gives the evidence for one query: a `Retriever`, or one that follows its index."""

    def retrieve(self, query: Query) -> ContextBundle:
        """Return the evidence for *query*, best first."""


def number_evidence(
    chosen: Collection[Scored], count_tokens: CountTokens, *, budget: int
) -> tuple[Evidence, ...]:
    """Turn *chosen* into S1, S2, ... in rank order, cut to *budget* tokens; offsets follow the cuts."""
    ranked = tuple(chosen)
    lengths = fit_budget([one.chunk.text for one in ranked], count_tokens, budget=budget)
    kept = [(one, length) for one, length in zip(ranked, lengths, strict=True) if length]
    return tuple(_evidence(f"S{number}", one, length) for number, (one, length) in enumerate(kept, start=1))


def _evidence(label: str, one: Scored, length: int) -> Evidence:
    return evidence_of(
        one.chunk,
        label,
        text=one.chunk.text[:length],
        offsets=cut_offsets(one.chunk.offsets, one.chunk.text, length),
        score=one.score,
        scores=one.scores,
        source=one.source,
        role=one.role,
        path=one.path,
        logit=one.logit,
    )


_OF_CHUNK = tuple(one.name for one in fields(Evidence) if one.name in {own.name for own in fields(Chunk)})
_OF_EVIDENCE = tuple(one.name for one in fields(Citation))


def evidence_of(chunk: Chunk, label: str, *, source: Origin, role: str, **given: Any) -> Evidence:
    """Return a chunk as evidence that opens where it stands: whole and unscored, but for what is *given*."""
    own = {name: getattr(chunk, name) for name in _OF_CHUNK}
    whole = {
        **own,
        "chunk_id": chunk.id,
        "pdf": locate_in_pdf(chunk),
        "score": 0.0,
        "scores": Scores(),
        "derivation": Derivation.STATED,
        "path": (),
    }
    return Evidence(**{**whole, **given, "S": label, "source": source, "role": role})


def relabel(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Number evidence from S1 on."""
    return tuple(replace(one, S=f"S{number}") for number, one in enumerate(evidence, start=1))


def locate_in_pdf(chunk: Chunk) -> PdfLocation | None:
    """Return the place of a chunk in its PDF; None for other kinds, and where page or box is missing."""
    if chunk.file_id is None or chunk.page_no is None or chunk.bbox is None or chunk.page_size is None:
        return None
    return PdfLocation(file_id=chunk.file_id, page=chunk.page_no, bbox=chunk.bbox, page_size=chunk.page_size)


def cite(evidence: Evidence) -> Citation:
    """Return what an answer prints for this evidence."""
    return Citation(**{name: getattr(evidence, name) for name in _OF_EVIDENCE})


GRAPH = "graph"
"""What a bundle is `degraded` by where the graph was not there."""


def without_graph(bundle: ContextBundle) -> ContextBundle:
    """Say of a bundle that the graph was not there."""
    return replace(bundle, degraded=tuple(sorted({*bundle.degraded, GRAPH})))


def build_bundle(
    query: Query,
    evidence: tuple[Evidence, ...],
    summaries: tuple[Summary, ...],
    *,
    route: str,
    generation: int,
    as_of: str,
    degraded: tuple[str, ...],
    tool_plan: ToolPlan | None = None,
    diagnostics: Mapping[str, Any],
) -> ContextBundle:
    """Put the parts together; nothing in a bundle depends on when it was asked."""
    return ContextBundle(
        version=VERSION,
        query=query.text,
        route=route,
        generation=generation,
        as_of=as_of,
        degraded=degraded,
        persona=query.persona,
        summaries=summaries,
        evidence=evidence,
        citations=tuple(cite(one) for one in evidence),
        tool_plan=tool_plan,
        tool_result=query.tool.result if query.tool else None,
        diagnostics=dict(diagnostics),
    )
