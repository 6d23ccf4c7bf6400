"""From names in a question to the nodes of the graph that have them."""

from collections.abc import Collection
from dataclasses import dataclass

from indexes.ports import ChunkReader, GraphReader
from retrieval.dual.entities import QueryEntity
from retrieval.dual.things import names_of
from retrieval.question.words import fold
from schemas.edges import EdgeKind
from schemas.evidence import SearchField
from schemas.ids import entity_id
from schemas.nodes import Node, Section

_PLACES = (SearchField.HEADING, SearchField.TEXT, SearchField.CODES)
HITS = 10
"""Chunks of each field in which a name is looked up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedEntity:
    """An entity of a question, and the nodes that are it: an entity, the document it names, a tool."""

    entity: QueryEntity
    nodes: tuple[str, ...]


def resolve_entities(
    chunks: ChunkReader, graph: GraphReader, entities: Collection[QueryEntity]
) -> tuple[LinkedEntity, ...]:
    """Find the nodes that have one of the names of each entity; entities without any are left out.

    Names are compared without case and punctuation. The chunks that a search for the name finds say whom
    it may mean: what they mention, what names their documents, the tools they explain. The graph is asked
    three times, however many names there are.
    Raises: StoreUnavailable: a store is gone.
    """
    names = tuple(name for one in entities for name in one.names)
    nodes = _nodes_near(chunks, graph, names) if names else ()
    whole = (node for node in nodes if not isinstance(node, Section))
    called = {node.id: {fold(name) for name in names_of(node)} for node in whole}
    return tuple(
        LinkedEntity(entity=one, nodes=found)
        for one in entities
        if (found := tuple(sorted(id_ for id_, own in called.items() if own & set(map(fold, one.names)))))
    )


def _nodes_near(chunks: ChunkReader, graph: GraphReader, names: Collection[str]) -> tuple[Node, ...]:
    hits = [hit for name in names for field in _PLACES for hit in chunks.search_text(field, name, top_k=HITS)]
    found = sorted({hit.chunk_id for hit in hits})
    docs = sorted({hit.doc for hit in hits})
    said = graph.edges_from(found, kinds={EdgeKind.MENTIONS})
    into = graph.edges_to([*docs, *found], kinds={EdgeKind.NAMES, EdgeKind.EXPLAINED_BY})
    own = {entity_id(name) for name in names}
    return graph.nodes(sorted({*own, *docs, *(edge.dst for edge in said), *(edge.src for edge in into)}))
