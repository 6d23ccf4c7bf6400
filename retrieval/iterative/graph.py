"""The graph that grows while passages are read: merged names, kept homonyms, and what lies how far."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from retrieval.iterative.facts import Facts, Kind, Mention, Statement
from retrieval.words import fold

DISTINGUISHING = frozenset({"country", "born", "died", "kind"})
"""Attributes that a thing has one of: two values under one name are two things."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Everything read so far, as read; a set in order, so that merging twice or in another order is the same.

    What is one entity and what are two is decided from all mentions together, by `resolve`.
    """

    mentions: tuple[Mention, ...] = ()
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """Mentions that mean one thing, in order of appearance; `name` is how it appeared first."""

    name: str
    kind: Kind
    attributes: tuple[tuple[str, str], ...]
    names: frozenset[str]
    refs: frozenset[str]
    mentions: tuple[Mention, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Triple:
    """A statement between two entities, given by their places in `Resolved.entities`."""

    subject: int
    object: int
    statement: Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """Entities and triples, both in order of appearance."""

    entities: tuple[Entity, ...]
    triples: tuple[Triple, ...]

    def neighbours(self) -> Mapping[int, Mapping[int, Triple]]:
        """Give to each entity those one triple away, by the first triple that joins them."""
        near: dict[int, dict[int, Triple]] = {}
        for triple in self.triples:
            near.setdefault(triple.subject, {}).setdefault(triple.object, triple)
            near.setdefault(triple.object, {}).setdefault(triple.subject, triple)
        return near


def merge(graph: Graph, facts: Facts) -> Graph:
    """Add what was read; what is there already changes nothing."""
    return Graph(
        mentions=tuple(sorted({*graph.mentions, *facts.mentions}, key=_mention_key)),
        statements=tuple(sorted({*graph.statements, *facts.statements}, key=_statement_key)),
    )


def _mention_key(one: Mention) -> tuple[object, ...]:
    return (*one.order, one.span or (), one.kind, one.attributes, one.aliases, one.ref or "")


def _statement_key(one: Statement) -> tuple[object, ...]:
    return (*one.order, one.span, one.subject_ref or "", one.object_ref or "")


def resolve(graph: Graph) -> Resolved:
    """Decide which mentions are one entity: same name or alias, and nothing that tells them apart.

    Two ids of the index, or two values of a distinguishing attribute, tell homonyms apart. A bare name that
    may mean several joins the one of its own passage, else it stands alone.
    """
    clusters: list[_Cluster] = []
    for mention in sorted(graph.mentions, key=_most_told_first):
        home = _home_of(mention, clusters)
        if home is None:
            clusters.append(_Cluster.of(mention))
        else:
            clusters[clusters.index(home)] = home.joined(mention)
    entities = tuple(sorted((cluster.entity() for cluster in clusters), key=_first_appearance))
    triples = (_triple(statement, entities) for statement in graph.statements)
    return Resolved(entities=entities, triples=tuple(one for one in triples if one))


def _first_appearance(entity: Entity) -> tuple[object, ...]:
    return _mention_key(entity.mentions[0])


def _most_told_first(mention: Mention) -> tuple[object, ...]:
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
    mentions: tuple[Mention, ...]

    @classmethod
    def of(cls, mention: Mention) -> "_Cluster":
        return cls(
            names=_names(mention),
            refs=frozenset({mention.ref} if mention.ref else ()),
            telling=_telling(mention.attributes),
            mentions=(mention,),
        )

    def joined(self, mention: Mention) -> "_Cluster":
        return replace(
            self,
            names=self.names | _names(mention),
            refs=self.refs | ({mention.ref} if mention.ref else set()),
            telling={**_telling(mention.attributes), **self.telling},
            mentions=(*self.mentions, mention),
        )

    def may_mean(self, mention: Mention) -> bool:
        if mention.ref and mention.ref in self.refs:
            return True
        told = _telling(mention.attributes)
        return (
            bool(self.names & _names(mention))
            and not (mention.ref and self.refs)
            and all(self.telling.get(key, told[key]) == told[key] for key in told)
        )

    def entity(self) -> Entity:
        ordered = tuple(sorted(self.mentions, key=_mention_key))
        kinds = [one.kind for one in ordered if one.kind is not Kind.THING]
        pairs: dict[tuple[str, str], tuple[str, str]] = {}
        for key, value in (pair for one in ordered for pair in one.attributes):
            pairs.setdefault((key, fold(value)), (key, value))
        return Entity(
            name=ordered[0].name,
            kind=max(dict.fromkeys(kinds), key=kinds.count, default=Kind.THING),
            attributes=tuple(pairs.values()),
            names=self.names,
            refs=self.refs,
            mentions=ordered,
        )


def _home_of(mention: Mention, clusters: Collection[_Cluster]) -> _Cluster | None:
    homes = [cluster for cluster in clusters if cluster.may_mean(mention)]
    if len(homes) > 1:
        here = [home for home in homes if any(one.chunk == mention.chunk for one in home.mentions)]
        known = [home for home in homes if mention.ref in home.refs]
        homes = known or here
        return homes[0] if len(homes) == 1 or known else None
    return homes[0] if homes else None


def _names(mention: Mention) -> frozenset[str]:
    return frozenset(fold(name) for name in (mention.name, *mention.aliases) if fold(name))


def _telling(attributes: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {key: fold(value) for key, value in reversed(tuple(attributes)) if key in DISTINGUISHING}


def _triple(statement: Statement, entities: Collection[Entity]) -> Triple | None:
    """Join a statement to its two entities; None where one of them was dropped, or both are one."""
    subject = _end(statement.subject, statement.subject_ref, statement.chunk, entities)
    object_ = _end(statement.object, statement.object_ref, statement.chunk, entities)
    if subject is None or object_ is None or subject == object_:
        return None
    return Triple(subject=subject, object=object_, statement=statement)


def _end(name: str, ref: str | None, chunk: str, entities: Collection[Entity]) -> int | None:
    by_ref = [place for place, one in enumerate(entities) if ref and ref in one.refs]
    named = [place for place, one in enumerate(entities) if fold(name) in one.names]
    here = [
        place
        for place, one in enumerate(entities)
        if place in named and any(mention.chunk == chunk for mention in one.mentions)
    ]
    return next(iter((*by_ref, *here, *named)), None)
