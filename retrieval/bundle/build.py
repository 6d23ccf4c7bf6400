"""Selected chunks to a `ContextBundle`: numbered, cut to the budget, with citations and summaries."""

from collections.abc import Collection, Mapping
from typing import Any

from retrieval.bundle.token_budget import CountTokens, cut_offsets, fit_budget
from retrieval.ranking.score import Scored
from schemas.evidence import (
    Citation,
    ContextBundle,
    Derivation,
    Evidence,
    Origin,
    PathStep,
    PdfLocation,
    Query,
    Scores,
    Summary,
    ToolPlan,
)
from schemas.nodes import Chunk

VERSION = 1


def number_evidence(
    chosen: Collection[Scored], count_tokens: CountTokens, *, budget: int
) -> tuple[Evidence, ...]:
    """Turn *chosen* into S1, S2, ... in rank order, cut to *budget* tokens; offsets follow the cuts."""
    ranked = tuple(chosen)
    lengths = fit_budget([one.chunk.text for one in ranked], count_tokens, budget=budget)
    kept = [(one, length) for one, length in zip(ranked, lengths, strict=True) if length]
    return tuple(_evidence(f"S{number}", one, length) for number, (one, length) in enumerate(kept, start=1))


def _evidence(label: str, one: Scored, length: int) -> Evidence:
    chunk = one.chunk
    return evidence_of(
        chunk,
        label,
        text=chunk.text[:length],
        offsets=cut_offsets(chunk.offsets, chunk.text, length),
        score=one.score,
        scores=one.scores,
        source=one.source,
        derivation=one.derivation,
        role=one.role,
        path=one.path,
        logit=one.logit,
    )


def evidence_of(
    chunk: Chunk,
    label: str,
    *,
    text: str,
    offsets: tuple[int, int],
    score: float,
    scores: Scores,
    source: Origin,
    derivation: Derivation,
    role: str,
    path: tuple[PathStep, ...],
    logit: float | None = None,
    entity: str | None = None,
) -> Evidence:
    """Return *text*, of *chunk* or read from it, as evidence that opens where the chunk stands."""
    return Evidence(
        S=label,
        chunk_id=chunk.id,
        doc=chunk.doc,
        doc_id=chunk.doc_id,
        kind=chunk.kind,
        url=chunk.url,
        fragment=chunk.fragment,
        text_fragment=chunk.text_fragment,
        file_path=chunk.file_path,
        section=chunk.section,
        pdf=locate_in_pdf(chunk),
        heading_path=chunk.heading_path,
        breadcrumbs=chunk.breadcrumbs,
        text=text,
        offsets=offsets,
        score=score,
        scores=scores,
        source=source,
        derivation=derivation,
        role=role,
        path=path,
        logit=logit,
        last_modified=chunk.last_modified,
        last_modified_origin=chunk.last_modified_origin,
        stale=chunk.stale,
        entity=entity,
    )


def unscored_evidence(chunk: Chunk, label: str, *, source: Origin, role: str) -> Evidence:
    """Return a whole chunk as evidence that no search has scored."""
    return evidence_of(
        chunk,
        label,
        text=chunk.text,
        offsets=chunk.offsets,
        score=0.0,
        scores=Scores(),
        source=source,
        derivation=Derivation.STATED,
        role=role,
        path=(),
    )


def locate_in_pdf(chunk: Chunk) -> PdfLocation | None:
    """Return the place of a chunk in its PDF; None for other kinds, and where page or box is missing."""
    if chunk.file_id is None or chunk.page_no is None or chunk.bbox is None or chunk.page_size is None:
        return None
    return PdfLocation(file_id=chunk.file_id, page=chunk.page_no, bbox=chunk.bbox, page_size=chunk.page_size)


def cite(evidence: Evidence) -> Citation:
    """Return what an answer prints for this evidence."""
    return Citation(
        S=evidence.S,
        chunk_id=evidence.chunk_id,
        url=evidence.url,
        fragment=evidence.fragment,
        text_fragment=evidence.text_fragment,
        file_path=evidence.file_path,
        section=evidence.section,
        pdf=evidence.pdf,
        derivation=evidence.derivation,
        last_modified=evidence.last_modified,
        last_modified_origin=evidence.last_modified_origin,
        entity=evidence.entity,
    )


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
