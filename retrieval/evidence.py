"""What a question brings at every door: the walk, what edges say to it, or why there is nothing."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from indexes.layout import IndexLayout
from indexes.publish.generation import load_generation
from indexes.wiring import Readers
from retrieval.answering.answerable import (
    doubt,
    is_nowhere,
    least_logit,
    spelled_like,
    unknown_words,
    weigh_unknown,
)
from retrieval.answering.answered import Answered
from retrieval.bundle.annotations import note_uses, note_versions, read_titles
from retrieval.bundle.build import GRAPH, cite, without_graph
from retrieval.bundle.render import cite_line, render_text, show_line
from retrieval.graph.expansion import ALL_RULES, GraphRule
from retrieval.question.catalogue import ALL, bind_version
from retrieval.question.dates import date_filters
from retrieval.question.query import ALLOW_ALL, Policy
from retrieval.question.words import language_of
from retrieval.relations.evidence import add_relations
from retrieval.retriever import RetrievalResult, Retriever
from schemas.errors import SitegraphError, StoreUnavailable
from schemas.evidence import ContextBundle, Evidence, Filter, Query
from schemas.health import Absence, Coverage, Measured, NearMiss, SearchedSource
from schemas.nodes import NodeKind
from schemas.records import from_record, to_record


def build_retriever(
    readers: Readers, *, policy: Policy = ALLOW_ALL, rules: Collection[GraphRule] = ALL_RULES
) -> Retriever:
    """Return the retriever over the one generation that *readers* see; *policy* is asked before each query.

    Of the graph only *rules* are followed; without the second queries it asks the stores once.
    """
    return Retriever(
        readers.chunks,
        readers.graph,
        readers.encoder,
        generation=readers.generation,
        as_of=readers.as_of,
        authority=readers.authority,
        degraded=readers.degraded,
        reranker=readers.reranker,
        policy=policy,
        weights=readers.weights,
        rules=rules,
        families=readers.families,
        boost=readers.graph_boost,
    )


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
    is_read = language_of(bundle.query) in (None, "en")  # by the cross-encoder
    measured = is_read and any(one.measured is Measured.LOGIT for one in near)
    needed = least_logit(weigh_unknown(bundle.query, unknown)) + doubt(bundle.query)
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


def find_evidence(
    readers: Readers,
    retriever: Retriever,
    query: Query,
    *,
    coverage: Callable[[], Coverage] | None = None,
    judge: bool = True,
) -> RetrievalResult:
    """Return the evidence for *query* with the relations that it asks for; where there is none, why.

    Args: coverage: reads from the ledger what the index may lack. judge: whether what is found is evidence;
    else all of it is returned, for an answerer or for a question of which a part is typed. Raises: as
    `Retriever.walk`.
    """
    walk = retriever.walk(query)
    related = replace(walk, bundle=relate(readers, walk.query, walk.bundle))
    return tell_absence(readers, related, coverage=coverage) if judge else related


def render_evidence(
    readers: Readers, bundle: ContextBundle, *, width: int = 80, why: bool = False, full: bool = False
) -> str:
    """Return a bundle as text for people, and why it is empty; arguments as of `render_text`."""
    titles = read_titles(readers.graph, [one.doc for one in bundle.evidence])
    absence = absence_in(bundle)
    told = [render_absence(absence)] if absence else []
    return "\n\n".join([render_text(bundle, width=width, titles=titles, why=why, full=full), *told])


def relate(
    readers: Readers, query: Query, bundle: ContextBundle, *, warn: Callable[[str], None] | None = None
) -> ContextBundle:
    """Add the relations that *query* asks for, behind all other evidence; most bundles stay as they are.

    A graph that fails costs only that, and `degraded` says so, as do *warn*'s words.
    """
    if readers.graph is None or not query.use_graph or GRAPH in bundle.degraded:
        return bundle
    manuals = readers.families.manuals
    asked = bind_version(replace(query, filters=date_filters(query.filters, bundle.as_of)), manuals)
    try:
        related = add_relations(bundle, asked, readers.chunks, readers.graph, readers.encoder)
        evidence = note_versions(related.evidence, manuals, readers.chunks)
        noted = note_uses(evidence, readers.graph)
        return replace(related, evidence=noted, citations=tuple(map(cite, noted)))
    except StoreUnavailable as error:
        if warn is not None:
            warn(f"answering without relations: {error}")
        return without_graph(bundle)
