"""The graph that grows while passages are read: merged names, distances, paths, and the graph as words."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from retrieval.iterative.facts import EntityKind, NameMention, Statement, StepFacts
from retrieval.question.route import entities_of
from retrieval.question.words import fold

DISTINGUISHING = frozenset({"country", "born", "died", "kind"})
"""Attributes that a thing has one of: two values under one name are two things."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Everything read so far, as read; a set in order, so that merging twice or in another order is the same.

    What is one entity and what are two is decided from all mentions together, by `resolve`.
    """

    mentions: tuple[NameMention, ...] = ()
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityCluster:
    """Mentions that mean one thing, in order of appearance; `name` is how it appeared first."""

    name: str
    kind: EntityKind
    attributes: tuple[tuple[str, str], ...]
    names: frozenset[str]
    refs: frozenset[str]
    mentions: tuple[NameMention, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityTriple:
    """A statement between two entities, given by their places in `EntityGraph.entities`."""

    subject: int
    object: int
    statement: Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityGraph:
    """Entities and triples, both in order of appearance."""

    entities: tuple[EntityCluster, ...]
    triples: tuple[EntityTriple, ...]

    def neighbours(self) -> Mapping[int, Mapping[int, EntityTriple]]:
        """Return for each entity those one triple away, by the first triple that joins them."""
        near: dict[int, dict[int, EntityTriple]] = {}
        for triple in self.triples:
            near.setdefault(triple.subject, {}).setdefault(triple.object, triple)
            near.setdefault(triple.object, {}).setdefault(triple.subject, triple)
        return near


def merge(graph: Graph, facts: StepFacts) -> Graph:
    """Add what was read; what is there already changes nothing."""
    return Graph(
        mentions=tuple(sorted({*graph.mentions, *facts.mentions}, key=_mention_key)),
        statements=tuple(sorted({*graph.statements, *facts.statements}, key=_statement_key)),
    )


def _mention_key(one: NameMention) -> tuple[object, ...]:
    return (*one.order, one.span or (), one.kind, one.attributes, one.aliases, one.ref or "")


def _statement_key(one: Statement) -> tuple[object, ...]:
    return (*one.order, one.span, one.subject_ref or "", one.object_ref or "")


def resolve(graph: Graph) -> EntityGraph:
    """Decide which mentions are one entity: same name or alias, and nothing that tells them apart.

    Two ids of the index, or two values of a distinguishing attribute, tell homonyms apart. A bare name that
    may mean several joins the one of its own passage, else it stands alone.
    """
    clusters: list[_Cluster] = []
    for mention in sorted(graph.mentions, key=_most_told_first):
        one = _Cluster.of(mention)
        place = _home_of(one, clusters)
        if place is None:
            clusters.append(one)
        else:
            clusters[place] = clusters[place].joined(one)
    entities = tuple(
        sorted(
            (cluster.entity() for cluster in clusters), key=lambda entity: _mention_key(entity.mentions[0])
        )
    )
    known = _Places.of(entities)
    triples = (known.join(statement) for statement in graph.statements)
    return EntityGraph(entities=entities, triples=tuple(one for one in triples if one))


def _most_told_first(mention: NameMention) -> tuple[object, ...]:
    """What has an id, attributes or aliases says who is who, before bare names look for their place."""
    return (
        mention.ref is None,
        -len(_telling(mention.attributes)),
        -len(mention.aliases),
        *_mention_key(mention),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cluster:
    names: frozenset[str]
    refs: frozenset[str]
    telling: Mapping[str, str]
    mentions: tuple[NameMention, ...]

    @property
    def chunks(self) -> frozenset[str]:
        return frozenset(one.chunk for one in self.mentions)

    @classmethod
    def of(cls, mention: NameMention) -> "_Cluster":
        return cls(
            names=_names(mention),
            refs=frozenset({mention.ref} if mention.ref else ()),
            telling=_telling(mention.attributes),
            mentions=(mention,),
        )

    def joined(self, other: "_Cluster") -> "_Cluster":
        return _Cluster(
            names=self.names | other.names,
            refs=self.refs | other.refs,
            telling={**other.telling, **self.telling},
            mentions=(*self.mentions, *other.mentions),
        )

    def may_mean(self, other: "_Cluster") -> bool:
        if self.refs & other.refs:
            return True
        return (
            not self.names.isdisjoint(other.names)
            and not (self.refs and other.refs)
            and all(self.telling.get(key, told) == told for key, told in other.telling.items())
        )

    def entity(self) -> EntityCluster:
        ordered = tuple(sorted(self.mentions, key=_mention_key))
        kinds = [one.kind for one in ordered if one.kind is not EntityKind.THING]
        pairs: dict[tuple[str, str], tuple[str, str]] = {}
        for key, value in (pair for one in ordered for pair in one.attributes):
            pairs.setdefault((key, fold(value)), (key, value))
        return EntityCluster(
            name=ordered[0].name,
            kind=max(dict.fromkeys(kinds), key=kinds.count, default=EntityKind.THING),
            attributes=tuple(pairs.values()),
            names=self.names,
            refs=self.refs,
            mentions=ordered,
        )


def _home_of(one: _Cluster, clusters: Collection[_Cluster]) -> int | None:
    homes = {place: home for place, home in enumerate(clusters) if home.may_mean(one)}
    if len(homes) < 2:
        return next(iter(homes), None)
    known = [place for place, home in homes.items() if home.refs & one.refs]
    here = [place for place, home in homes.items() if home.chunks & one.chunks]
    return known[0] if known else here[0] if len(here) == 1 else None


def _names(mention: NameMention) -> frozenset[str]:
    return frozenset(fold(name) for name in (mention.name, *mention.aliases) if fold(name))


def _telling(attributes: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {key: fold(value) for key, value in reversed(tuple(attributes)) if key in DISTINGUISHING}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Places:
    """Where entities stand, by id of the index, by name, and by name in one chunk; the first of each."""

    by_ref: Mapping[str, int]
    by_name: Mapping[str, int]
    here: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, entities: Sequence[EntityCluster]) -> "_Places":
        by_ref: dict[str, int] = {}
        by_name: dict[str, int] = {}
        here: dict[tuple[str, str], int] = {}
        for place, one in enumerate(entities):
            by_ref.update((ref, place) for ref in one.refs if ref not in by_ref)
            by_name.update((name, place) for name in one.names if name not in by_name)
            keys = {(mention.chunk, name) for mention in one.mentions for name in one.names}
            here.update((key, place) for key in keys if key not in here)
        return cls(by_ref=by_ref, by_name=by_name, here=here)

    def join(self, statement: Statement) -> EntityTriple | None:
        """Return the triple of a statement; None where one of its two was dropped, or both are one."""
        subject = self._find(statement.subject, statement.subject_ref, statement.chunk)
        object_ = self._find(statement.object, statement.object_ref, statement.chunk)
        if subject is None or object_ is None or subject == object_:
            return None
        return EntityTriple(subject=subject, object=object_, statement=statement)

    def _find(self, name: str, ref: str | None, chunk: str) -> int | None:
        folded = fold(name)
        known = self.by_ref.get(ref or "")
        return known if known is not None else self.here.get((chunk, folded), self.by_name.get(folded))


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


def prune_graph(graph: EntityGraph, question: str, *, room: int = ENTITIES_MAX) -> EntityGraph:
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
