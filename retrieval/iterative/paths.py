"""How far entities are from those of the question, shortest paths, and what is too far to keep."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from retrieval.iterative.graph import EntityCluster, EntityGraph, EntityTriple
from retrieval.question.relationship import entities_of
from retrieval.question.words import fold

HOPS_MAX = 3
"""From the question's entities; what lies beyond is left out (GraphAnchor, error handling)."""
ENTITIES_MAX = 120
"""Entities that a prompt has room for; of equally far ones the latest to appear go first."""


def named_in(question: str, entities: Collection[EntityCluster]) -> tuple[frozenset[int], ...]:
    """Return for each name of *question* the places of the entities that it may mean; an empty set for none.

    Those of exactly this name, else those whose name begins with it: "Black Hawk Township" is meant by
    "Black Hawk Township, Jefferson County". Where several have the name, the question does not say which.
    What the index knows by a name is looked for whatever its case; of other entities only capitalised names.
    """
    listed = tuple(entities)
    known = [name for one in listed if one.refs for name in sorted(one.names)]
    return tuple(_meant(fold(name), listed) for name in entities_of(question, known))


def _meant(asked: str, entities: tuple[EntityCluster, ...]) -> frozenset[int]:
    same = frozenset(place for place, one in enumerate(entities) if asked in one.names)
    return same or frozenset(
        place for place, one in enumerate(entities) if any(name.startswith(f"{asked} ") for name in one.names)
    )


def subjects_of(question: str, entities: Collection[EntityCluster]) -> tuple[int, ...]:
    """Return the entities that *question* names, by their places."""
    return tuple(sorted(frozenset().union(*named_in(question, entities))))


def distances(graph: EntityGraph, start: Iterable[int]) -> dict[int, int]:
    """Return how many triples each entity is from the nearest of *start*; what is not joined is absent."""
    near = graph.neighbours()
    found = dict.fromkeys(start, 0)
    front = list(found)
    while front:
        reached = sorted({end for place in front for end in near.get(place, {}) if end not in found})
        found.update(dict.fromkeys(reached, found[front[0]] + 1))
        front = reached
    return found


def shortest_path(graph: EntityGraph, start: int, goals: Collection[int]) -> tuple[EntityTriple, ...]:
    """Return the triples from *start* to the nearest of *goals*, the earliest of equals; empty if none."""
    near = graph.neighbours()
    ways: dict[int, tuple[EntityTriple, ...]] = {start: ()}
    front = [start]
    while front:
        ended = sorted(place for place in front if place in goals and place != start)
        if ended:
            return ways[ended[0]]
        front = _step(near, ways, front)
    return ()


def _step(
    near: Mapping[int, Mapping[int, EntityTriple]],
    ways: dict[int, tuple[EntityTriple, ...]],
    front: Collection[int],
) -> list[int]:
    reached: list[int] = []
    for place in front:
        for end, triple in sorted(near.get(place, {}).items(), key=lambda item: item[0]):
            if end not in ways:
                ways[end] = (*ways[place], triple)
                reached.append(end)
    return reached


def prune(graph: EntityGraph, question: str, *, room: int = ENTITIES_MAX) -> EntityGraph:
    """Leave out entities more than 3 hops from those of *question*, and the farthest beyond *room*.

    What no triple joins to the question's entities is farther than anything. Where the question names nothing
    that was read yet, nothing tells how far anything is, and only *room* counts. What is left out here is not
    forgotten: it is back when a later passage joins it.
    """
    subjects = subjects_of(question, graph.entities)
    far = distances(graph, subjects)
    places = sorted(range(len(graph.entities)), key=lambda place: (far.get(place, HOPS_MAX + 1), place))
    if subjects:
        places = [place for place in places if far.get(place, HOPS_MAX + 1) <= HOPS_MAX]
    kept = {old: new for new, old in enumerate(sorted(places[:room]))}
    return EntityGraph(
        entities=tuple(graph.entities[old] for old in kept),
        triples=tuple(
            replace(one, subject=kept[one.subject], object=kept[one.object])
            for one in graph.triples
            if one.subject in kept and one.object in kept
        ),
    )
