"""The graph as words that any model can read."""

import re

from retrieval.iterative.graph import EntityCluster, EntityGraph, EntityTriple

_MARKUP = re.compile(r"(?:[\[\]<>\s]|--)+")


def linearise(graph: EntityGraph) -> str:
    """Return entities, then relations, each in order of first appearance, between `<graph>` and `</graph>`.

    Source: Graph-Anchored Knowledge Indexing (GraphAnchor; Liu et al., 2026), section 4.
    """
    entities = ", ".join(_entity(one) for one in graph.entities)
    relations = ", ".join(dict.fromkeys(_relation(graph, one) for one in graph.triples))
    return f"<graph>Entities: {entities}; Relations: {relations}</graph>"


def name_apart(graph: EntityGraph, place: int) -> str:
    """Return an entity's name, with what tells it from another of that name where there is one."""
    entity = graph.entities[place]
    others = [one for one in graph.entities if one is not entity and one.name == entity.name]
    if not others:
        return _plain(entity.name)
    shown = ", ".join(value for _, value in entity.attributes) or f"of {entity.mentions[0].chunk}"
    return f"{_plain(entity.name)} ({_plain(shown)})"


def _entity(entity: EntityCluster) -> str:
    shown = ", ".join((entity.kind.value, *(value for _, value in entity.attributes)))
    return f"[{_plain(entity.name)} ({_plain(shown)})]"


def _relation(graph: EntityGraph, triple: EntityTriple) -> str:
    ends = (name_apart(graph, triple.subject), name_apart(graph, triple.object))
    return f"[{ends[0]} -- {_plain(triple.statement.predicate)} -- {ends[1]}]"


def _plain(text: str) -> str:
    """Names come from documents: none may end the tag, or look like another entity."""
    return _MARKUP.sub(" ", text).strip()
