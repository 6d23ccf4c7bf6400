"""The second channel of a question: what the graph says around its entities, behind what a search found."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

from indexes.ports import ChunkReader, GraphReader
from retrieval.bundle.annotations import note_uses
from retrieval.bundle.build import CountTokens, cite, evidence_of, without_graph
from retrieval.dual.context import GraphContext, build_contexts
from retrieval.dual.walk import LinkedEntity, extract_entities, resolve_entities, walk_from
from retrieval.question.dates import date_filters
from retrieval.question.route import asks_for_relations
from retrieval.question.words import fold
from schemas.errors import StoreUnavailable
from schemas.evidence import ContextBundle, Derivation, Evidence, Origin, Query, Scores
from schemas.names import expansions_of

DEPTH, RELATION_DEPTH = 1, 2
"""Hops of the walk, and of one for a question after relations."""
PER_PASSAGE = 2
"""Contexts beside each passage."""
ROLE = "graph"


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFindings:
    """Names in the question, those the graph knows, how deep it was walked, and what it says, best first."""

    entities: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    depth: int = 0
    contexts: tuple[GraphContext, ...] = ()


def add_contexts(
    bundle: ContextBundle,
    query: Query,
    chunks: ChunkReader,
    graph: GraphReader | None,
    count_tokens: CountTokens,
    *,
    log: Callable[[str], None],
    warn: Callable[[str], None],
) -> ContextBundle:
    """Add what the graph says around the entities of *query* behind its passages, whole texts as they fit.

    A graph that fails costs only that: `degraded` says so, and *warn*.
    """
    if graph is None or not query.use_graph:
        return bundle
    asked = replace(query, filters=date_filters(query.filters, bundle.as_of))
    try:
        found = find_contexts(chunks, graph, asked, bundle.evidence)
    except StoreUnavailable as error:
        warn(f"answering without the graph: {error}")
        return without_graph(bundle)
    log(f"graph: {', '.join(found.known) or 'no entity'}, {len(found.contexts)} contexts")
    chosen = _unsaid(bundle.evidence, found.contexts)[: PER_PASSAGE * len(bundle.evidence)]
    room = query.token_budget - sum(count_tokens(one.text) for one in bundle.evidence)
    kept = _fitting(chosen, count_tokens, room=room)
    added = tuple(_evidence(f"S{number}", one) for number, one in enumerate(kept, len(bundle.evidence) + 1))
    added = note_uses(added, graph)
    return replace(
        bundle,
        evidence=(*bundle.evidence, *added),
        citations=(*bundle.citations, *map(cite, added)),
        diagnostics={**bundle.diagnostics, "dual": _describe(found, len(chosen), len(kept))},
    )


def find_contexts(
    chunks: ChunkReader, graph: GraphReader, query: Query, passages: Collection[Evidence]
) -> GraphFindings:
    """Return what the graph says around at most three entities of *query*; nothing where it names none.

    Raises: StoreUnavailable: a store is gone.
    """
    # Titles, headings and ids of what was found: names that the index has.
    named = (name for one in passages for name in (*one.heading_path, *one.breadcrumbs, one.doc_id) if name)
    known = tuple(dict.fromkeys(named))
    acronyms = expansions_of((query.text, *(one.text for one in passages)))
    entities = extract_entities(query.text, known=known, acronyms=acronyms)
    start = _with_passages(resolve_entities(chunks, graph, entities), passages)
    names = tuple(one[0] for one in entities)
    depth = RELATION_DEPTH if asks_for_relations(query.text, [*known, *names]) else DEPTH
    reached = walk_from(graph, start, depth=depth) if start else ()
    return GraphFindings(
        entities=names,
        known=tuple(one.name for one in start),
        depth=depth,
        contexts=build_contexts(chunks, graph, reached, query) if reached else (),
    )


def _with_passages(
    start: Collection[LinkedEntity], passages: Collection[Evidence]
) -> tuple[LinkedEntity, ...]:
    """Let what the question's own documents say, where the other channel found it, lead on too."""
    return tuple(
        replace(one, nodes=(*one.nodes, *sorted({p.chunk_id for p in passages if p.doc in one.nodes})))
        for one in start
    )


def _unsaid(passages: Collection[Evidence], contexts: Collection[GraphContext]) -> tuple[GraphContext, ...]:
    """Keep, in order, the contexts whose entity no passage names.

    A name counts where it stands as words of its own, in a passage or a heading above it, whatever its case.
    """
    said = " ".join(f" {fold(part)} " for one in passages for part in (*one.heading_path, one.text))
    return tuple(
        one for one in contexts if not any(f" {fold(name)} " in said for name in one.names if fold(name))
    )


def _fitting(
    contexts: Iterable[GraphContext], count_tokens: CountTokens, *, room: int
) -> tuple[GraphContext, ...]:
    """Keep, in order, the contexts that fit in *room* tokens whole; half a statement says something else."""
    kept: list[GraphContext] = []
    for one in contexts:
        size = count_tokens(one.text)
        if size <= room:
            kept.append(one)
            room -= size
    return tuple(kept)


def _evidence(label: str, context: GraphContext) -> Evidence:
    """Return a context as evidence, which opens at the passage behind its last edge."""
    return evidence_of(
        context.chunk,
        label,
        text=context.text,
        score=context.score,
        scores=Scores(graph=context.score),
        source=Origin.GRAPH,
        derivation=Derivation.INFERRED,
        role=ROLE,
        path=context.path,
        entity=context.entity,
    )


def _describe(found: GraphFindings, chosen: int, kept: int) -> dict[str, Any]:
    return {
        "entities": list(found.entities),
        "known": list(found.known),
        "depth": found.depth,
        "contexts": len(found.contexts),
        "already_said_or_beyond_the_cap": len(found.contexts) - chosen,
        "beyond_the_budget": chosen - kept,
        "shown": kept,
    }
