"""The graph channel: from a question's entities to what the graph says around them."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Protocol

from indexes.ports import ChunkReader, GraphReader
from retrieval.dual.context import GraphContext, build_contexts
from retrieval.dual.entities import QueryEntityExtractor
from retrieval.dual.options import RECIPE, DualOptions
from retrieval.dual.resolve import LinkedEntity, resolve_entities
from retrieval.dual.walk import walk_from
from retrieval.question.relationship import asks_for_relations
from schemas.acronyms import expansions_of
from schemas.evidence import Evidence, Query


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFindings:
    """Names in the question, those the graph knows, how deep it was walked, and what it says, best first."""

    entities: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    depth: int = 0
    contexts: tuple[GraphContext, ...] = ()


class GraphRetriever(Protocol):
    """Finds what a graph says around a question."""

    def find(self, query: Query, passages: Collection[Evidence]) -> GraphFindings:
        """Return contexts for *query*; *passages* are what the other channel found.

        Raises: StoreUnavailable: the graph cannot be asked.
        """


class EntityGraphRetriever:
    """Keeps GraphRetriever: at most three entities, two hops for questions after relations, else one."""

    def __init__(
        self,
        chunks: ChunkReader,
        graph: GraphReader,
        *,
        extractor: QueryEntityExtractor | None = None,
        options: DualOptions = RECIPE,
    ) -> None:
        self._chunks, self._graph, self._options = chunks, graph, options
        self._extractor = extractor or QueryEntityExtractor(limit=options.max_entities)

    def find(self, query: Query, passages: Collection[Evidence]) -> GraphFindings:
        """Return what the graph says around the entities of *query*; nothing where it names none."""
        known = _catalogue_names(passages)
        acronyms = expansions_of((query.text, *(one.text for one in passages)))
        entities = self._extractor.extract(query.text, known=known, acronyms=acronyms)
        start = _with_passages(resolve_entities(self._chunks, self._graph, entities), passages)
        relations = asks_for_relations(query.text, [*known, *(one.name for one in entities)])
        depth = self._options.relation_depth if relations else self._options.depth
        reached = walk_from(self._graph, start, depth=depth, options=self._options) if start else ()
        return GraphFindings(
            entities=tuple(one.name for one in entities),
            known=tuple(one.entity.name for one in start),
            depth=depth,
            contexts=build_contexts(self._chunks, self._graph, reached, query, self._options)
            if reached
            else (),
        )


def _with_passages(
    start: Collection[LinkedEntity], passages: Collection[Evidence]
) -> tuple[LinkedEntity, ...]:
    """Let what the question's own documents say, where the other channel found it, lead on too."""
    return tuple(
        replace(one, nodes=(*one.nodes, *sorted({p.chunk_id for p in passages if p.doc in one.nodes})))
        for one in start
    )


def _catalogue_names(passages: Collection[Evidence]) -> tuple[str, ...]:
    """Titles, headings and ids of what was found: names that the index has."""
    named = (name for one in passages for name in (*one.heading_path, *one.breadcrumbs, one.doc_id) if name)
    return tuple(dict.fromkeys(named))
