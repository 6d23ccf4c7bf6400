"""What a question brings at every door: the walk, what edges say to it, or why there is nothing."""

from collections.abc import Callable
from dataclasses import replace

from indexes.wiring import Readers
from retrieval.absence import absence_in, render_absence, tell_absence
from retrieval.bundle.names import read_titles
from retrieval.bundle.render import render_text
from retrieval.bundle.versions import note_versions
from retrieval.question.dates import date_filters
from retrieval.question.versions import bind_version
from retrieval.relations.evidence import add_relations
from retrieval.retriever import GRAPH, RetrievalResult, Retriever
from schemas.coverage import Coverage
from schemas.errors import StoreUnavailable
from schemas.evidence import ContextBundle, Query


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
        return replace(related, evidence=note_versions(related.evidence, manuals, readers.chunks))
    except StoreUnavailable as error:
        if warn is not None:
            warn(f"answering without relations: {error}")
        return replace(bundle, degraded=tuple(sorted({*bundle.degraded, GRAPH})))
