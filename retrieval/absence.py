"""What to say where nothing answers a question: one value for every interface."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from indexes.layout import IndexLayout
from indexes.publish.generation import load_generation
from indexes.wiring import Readers
from retrieval.answering.answerable import (
    LOGIT_LEAST,
    UNKNOWN_COSTS,
    asked_words,
    doubt,
    is_nowhere,
    spelled_like,
    unknown_words,
)
from retrieval.answering.answered import Answered
from retrieval.bundle.render import cite_line, show_line
from retrieval.opening import build_retriever
from retrieval.question.versions import ALL
from retrieval.retriever import RetrievalResult
from schemas.absence import Absence, Measured, NearMiss, SearchedSource
from schemas.coverage import Coverage
from schemas.errors import SitegraphError
from schemas.evidence import ContextBundle, Evidence, Filter, Query
from schemas.nodes import NodeKind
from schemas.records import from_record, to_record

_DOCUMENTS = (NodeKind.PAGE.value, NodeKind.PDF_DOC.value)
NEAR = 3
"""Near misses that are told."""


def state_absence(
    readers: Readers,
    query: Query,
    bundle: ContextBundle,
    *,
    answered: Answered | None = None,
    coverage: Callable[[], Coverage] | None = None,
) -> Absence:
    """Say what was searched, what came near, and what the index may lack.

    Of an answer "not found" the nearest evidence came near; where filters left no evidence at all, what is
    found without them. A ledger that *coverage* cannot read costs only what it would say.
    """
    vector = readers.encoder.encode_query(bundle.query)
    unknown = unknown_words(bundle.query, readers.chunks, vector)
    near = _nearest(bundle, answered) or tuple(_outside(readers, query))
    measured = any(one.measured is Measured.LOGIT for one in near)
    share = len(unknown) / max(1, len(asked_words(bundle.query)))
    needed = LOGIT_LEAST + UNKNOWN_COSTS * share + doubt(bundle.query)
    return Absence(
        generation=bundle.generation,
        as_of=bundle.as_of,
        searched=_searched(readers, query.filters),
        filters=(*query.filters, *_version(query)),
        unknown=unknown,
        spelled=spelled_like(unknown, readers.chunks, readers.encoder),
        near=near,
        needed=round(needed, 3) if measured and answered else None,
        degraded=bundle.degraded,
        hidden=_hidden(coverage),
    )


def tell_absence(
    readers: Readers, walk: RetrievalResult, *, coverage: Callable[[], Coverage] | None = None
) -> RetrievalResult:
    """Put into the diagnostics of a bundle without any evidence what `state_absence` says.

    What is found for a word that stands nowhere is no evidence.
    """
    bundle = walk.bundle
    if bundle.relations:
        return walk
    if bundle.evidence:
        if not is_nowhere(bundle, readers.chunks, readers.encoder):
            return walk
        bundle = replace(bundle, evidence=(), citations=(), summaries=())
    absence = state_absence(readers, walk.query, bundle, coverage=coverage)
    told = {**bundle.diagnostics, "absence": to_record(absence)}
    return replace(walk, bundle=replace(bundle, diagnostics=told))


def _nearest(bundle: ContextBundle, answered: Answered | None) -> tuple[NearMiss, ...]:
    labels = answered.nearest if answered else ()
    return tuple(_near(one) for one in bundle.evidence if one.S in labels)


def _outside(readers: Readers, query: Query) -> Iterator[NearMiss]:
    if query.filters or query.version is not None:
        wide = replace(query, filters=(), version=ALL if query.version else None, top_k=NEAR)
        found = build_retriever(readers).retrieve(wide)
        yield from (_near(one, outside=True) for one in found.evidence)


def _version(query: Query) -> Iterator[Filter]:
    if query.version is not None:
        yield Filter(field="version", values=(query.version,))


def _near(one: Evidence, *, outside: bool = False) -> NearMiss:
    return NearMiss(
        chunk_id=one.chunk_id,
        citation=cite_line(one, one.pdf),
        heading=" > ".join(one.heading_path or one.breadcrumbs),
        measured=Measured.SCORE if one.logit is None else Measured.LOGIT,
        value=round(one.score if one.logit is None else one.logit, 3),
        outside=outside,
    )


def _searched(readers: Readers, filters: Sequence[Filter]) -> Mapping[str, SearchedSource]:
    asked = next((one.values for one in filters if one.field == "source"), None)
    try:
        sources = load_generation(IndexLayout(readers.index), readers.generation).sources
    except SitegraphError:  # pruned meanwhile
        return {}
    return {
        name: SearchedSource(
            documents=sum(rows.get("nodes", {}).get(kind, 0) for kind in _DOCUMENTS),
            chunks=sum(rows.get("chunks", {}).values()),
        )
        for name, rows in sorted(sources.items())
        if name and (asked is None or name in asked)
    }


def _hidden(coverage: Callable[[], Coverage] | None) -> Coverage | None:
    try:
        return coverage() if coverage else None
    except SitegraphError:
        return None


def absence_in(bundle: ContextBundle) -> Absence | None:
    """Return what `tell_absence` put into a bundle."""
    told = bundle.diagnostics.get("absence")
    return from_record(Absence, told) if told else None


def render_absence(absence: Absence) -> str:
    """Return it as lines for people; what came nearest stands before it, as what an answer shows."""
    return "\n".join(map(show_line, _lines(absence)))


def _lines(absence: Absence) -> Iterator[str]:
    where = ", ".join(
        f"{name} ({one.documents} documents, {one.chunks} passages)" for name, one in absence.searched.items()
    )
    yield f"Searched: {where or 'nothing'}; generation {absence.generation}, as of {absence.as_of}."
    if absence.filters:
        told = ", ".join(f"{one.field}={'|'.join(one.values)}" for one in absence.filters)
        yield f"Filters: {told}."
    if absence.degraded:
        yield f"Without: {', '.join(absence.degraded)}."
    if absence.unknown:
        yield f"These words stand nowhere in it: {', '.join(absence.unknown)}."
    for word, like in absence.spelled.items():
        yield f"Spelled like {word}: {', '.join(like)}."
    yield from _near_lines(absence)
    yield from _hidden_lines(absence.hidden)


def _near_lines(absence: Absence) -> Iterator[str]:
    for one in absence.near:
        if one.outside:
            yield f"Without the filters: {one.heading} {one.citation}"


def _hidden_lines(hidden: Coverage | None) -> Iterator[str]:
    if hidden is None:
        yield "What the index may lack is not known here: its ledger cannot be read."
        return
    reasons = {
        source: {
            **({"overdue": hidden.due[source]} if hidden.due.get(source) else {}),
            **({"failed or in quarantine": n} if (n := hidden.set_aside.get(source)) else {}),
            **hidden.left_out.get(source, {}),
        }
        for source in sorted({*hidden.due, *hidden.set_aside, *hidden.left_out})
    }
    told = [
        f"{source}: {', '.join(f'{n} {why}' for why, n in found.items())}"
        for source, found in reasons.items()
        if found
    ]
    yield (
        f"The index may lack documents of {'; '.join(told)}."
        if told
        else ("No document is overdue, failed, in quarantine or left out.")
    )
