"""A bundle, and what the edges of the graph say to its question."""

from collections.abc import Callable
from dataclasses import replace

from indexes.wiring import Readers
from retrieval.bundle.versions import note_versions
from retrieval.question.dates import date_filters
from retrieval.question.versions import bind_version
from retrieval.relations.evidence import add_relations
from retrieval.retriever import GRAPH, RetrievalResult
from schemas.errors import StoreUnavailable
from schemas.evidence import ContextBundle, Query


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
        return replace(related, evidence=note_versions(related.evidence, manuals, readers.chunks))
    except StoreUnavailable as error:
        if warn is not None:
            warn(f"answering without relations: {error}")
        return replace(bundle, degraded=tuple(sorted({*bundle.degraded, GRAPH})))


def relate_walk(readers: Readers, walk: RetrievalResult) -> RetrievalResult:
    """Return *walk* with the relations that its query asks for in its bundle."""
    return replace(walk, bundle=relate(readers, walk.query, walk.bundle))
