"""What people call a thing > its entity, over all documents of a generation; what the next one renames."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import NamedTuple, Protocol

from schemas.ids import entity_id
from schemas.names import WORD, Name, NameRole
from schemas.nodes import Entity, EntityType

MAX_HOMONYMS = 4
"""Entities that one name may have, and nodes that one entity may name; what has more is a label."""

SHARED = 2 / 3
"""By so much less sure is a name to mean one node where several have it."""

_CONFIDENCE = {
    NameRole.DOC_ID: 1.0,
    NameRole.CODE_PREFIX: 0.9,
    NameRole.TITLE: 0.9,
    NameRole.ALIAS: 0.9,
    NameRole.TERM: 0.9,
    NameRole.ACRONYM: 0.8,
    NameRole.HEADING: 0.7,
}
"""How sure a text is to mean the entity whose name it contains, by what makes it a name."""

_TERMS = frozenset({NameRole.TERM, NameRole.ACRONYM})
_TYPES = (
    (EntityType.DOCUMENT, frozenset(NameRole) - _TERMS - {NameRole.HEADING}),
    (EntityType.TERM, _TERMS),
    (EntityType.SECTION, frozenset({NameRole.HEADING})),
)

Key = tuple[str, str]
"""Name and disambiguation of an entity."""


class Named(NamedTuple):
    """A document, or a section of one, that an entity names, and how sure that is."""

    doc: str
    confidence: float


class Stated(NamedTuple):
    """A name and the document that states it."""

    doc: str
    name: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityCandidate:
    """An entity that a text may mean, and how sure that is if it is the only one.

    Where the text may mean others too, `docs` are the documents that the entity names, and `definers` those
    that explain the text as a term.
    `is_prefix`: the text is the code that the ids of these documents begin with, and means all of them.
    """

    entity: str
    confidence: float
    disambiguation: str = ""
    docs: tuple[str, ...] = ()
    definers: tuple[str, ...] = ()
    is_prefix: bool = False


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """Entities by id, what each text may mean, and which nodes each entity names.

    `labels` are the names that are left out, since too many things have them.
    """

    entities: Mapping[str, Entity] = field(default_factory=dict)
    meanings: Mapping[str, tuple[EntityCandidate, ...]] = field(default_factory=dict)
    nodes: Mapping[str, Mapping[str, Named]] = field(default_factory=dict)
    labels: frozenset[str] = frozenset()

    @cached_property
    def by_node(self) -> Mapping[str, str]:
        """The entity that each document or section is about."""
        return {node: entity for entity, nodes in sorted(self.nodes.items()) for node in nodes}

    @cached_property
    def by_doc(self) -> Mapping[str, tuple[tuple[str, str, float], ...]]:
        """Entity, node and confidence of what names a document and its sections."""
        named: dict[str, list[tuple[str, str, float]]] = {}
        for entity, nodes in sorted(self.nodes.items()):
            for node, (doc, confidence) in nodes.items():
                named.setdefault(doc, []).append((entity, node, confidence))
        return {doc: tuple(rows) for doc, rows in named.items()}

    @cached_property
    def by_beginning(self) -> Mapping[str, tuple[tuple[int, int], ...]]:
        """Lengths of names that begin so, the longest first, each with the characters before its first word.

        A name of three words and more is under its first two, as written; under two words stand those too
        that have the first one alone to go by, and every first word is there. Thousands of titles may begin
        with "The".
        """
        short: dict[str, set[tuple[int, int]]] = {}
        long: dict[tuple[str, str], set[tuple[int, int]]] = {}
        for text in self.meanings:
            words = list(islice(WORD.finditer(text), 3))
            if len(words) == 3:
                two = (words[0][0], text[words[0].start() : words[1].end()])
                long.setdefault(two, set()).add((len(text), words[0].start()))
            elif words:
                short.setdefault(words[0][0], set()).add((len(text), words[0].start()))
        every = {**{one: set[tuple[int, int]]() for one, _ in long}, **short}
        every |= {two: shapes | every[one] for (one, two), shapes in long.items()}
        return {words: tuple(sorted(shapes, reverse=True)) for words, shapes in every.items()}


def build_catalogue(stated: Iterable[Stated]) -> Catalogue:
    """Gather the names of all documents, in whatever order they come, as `catalogue_of` says."""
    return catalogue_of(gather_names(stated).values())


def gather_names(stated: Iterable[Stated]) -> "dict[str, EntityGroup]":
    """Gather what is said of entities, by their folded name; in whatever order it comes.

    Terms that differ in their use of capitals alone are one.
    """
    names = {*stated}
    main = _main_forms(one.name for one in names)
    groups: dict[str, EntityGroup] = {}
    for one in names:
        folded = one.name.folded
        if folded not in groups:
            groups[folded] = EntityGroup(main.get(folded))
        groups[folded].add(one)
    return groups


def catalogue_of(groups: "Iterable[EntityGroup]") -> Catalogue:
    """Return the catalogue of entities.

    A name of more than MAX_HOMONYMS entities, and an entity of more nodes than that, is a label and means
    none of them; but the code that ids begin with means all documents that share it.
    """
    gathered = {key: found for group in groups for key, found in group.entities.items()}
    kept = {key: found for key, found in gathered.items() if len(found.nodes) <= MAX_HOMONYMS}
    meanings = _meanings(kept)
    unclear = {text for text, several in meanings.items() if _is_unclear(several)}
    return Catalogue(
        entities={found.entity: _entity(key, found) for key, found in kept.items()},
        meanings={text: several for text, several in meanings.items() if text not in unclear},
        nodes={found.entity: found.shared_nodes for found in kept.values() if found.nodes},
        labels=frozenset({name for name, _ in gathered.keys() - kept.keys()} | unclear),
    )


@dataclass(slots=True)
class _Gathered:
    """All that is said of one entity; `entity` is its id."""

    entity: str
    roles: set[NameRole] = field(default_factory=set)
    texts: dict[str, NameRole] = field(default_factory=dict)
    nodes: dict[str, Named] = field(default_factory=dict)
    docs: set[str] = field(default_factory=set)
    definers: set[str] = field(default_factory=set)

    def add(self, doc: str, name: Name) -> None:
        self.roles.add(name.role)
        role = self.texts.get(name.text)
        self.texts[name.text] = name.role if role is None else min(name.role, role, key=_surest)
        if name.node is None:
            self.definers.add(doc)
        else:
            self.docs.add(doc)
            known = self.nodes.get(name.node, Named(doc, 0.0))
            self.nodes[name.node] = max(known, Named(doc, _CONFIDENCE[name.role]))

    @property
    def shared_nodes(self) -> dict[str, Named]:
        share = SHARED if len(self.nodes) > 1 else 1.0
        return {node: Named(doc, round(sure * share, 6)) for node, (doc, sure) in sorted(self.nodes.items())}


@dataclass(slots=True)
class EntityGroup:
    """What is said of the entities of one folded name; `main` is the one that a term of that name is."""

    main: Key | None
    entities: dict[Key, _Gathered] = field(default_factory=dict)

    def add(self, stated: Stated) -> None:
        """Take in one more document that states a name; one that is there already changes nothing."""
        doc, name = stated
        key = self.main if self.main and name.role in _TERMS else _key(name)
        if key not in self.entities:
            self.entities[key] = _Gathered(entity_id(*key))
        self.entities[key].add(doc, name)


def _surest(role: NameRole) -> tuple[float, str]:
    return (-_CONFIDENCE[role], role.value)


def _entity(key: Key, found: _Gathered) -> Entity:
    return Entity(
        id=found.entity,
        doc=found.entity,
        name=key[0],
        entity_type=next(type_ for type_, roles in _TYPES if roles & found.roles),
        disambiguation=key[1],
        aliases=tuple(sorted(found.texts.keys() - {key[0]})),
    )


def _meanings(kept: Mapping[Key, _Gathered]) -> dict[str, tuple[EntityCandidate, ...]]:
    meant: dict[str, list[tuple[Key, _Gathered]]] = {}
    for key, found in kept.items():
        for text in found.texts:
            meant.setdefault(text, []).append((key, found))
    return {text: _candidates(text, several) for text, several in meant.items()}


def _candidates(text: str, several: Sequence[tuple[Key, _Gathered]]) -> tuple[EntityCandidate, ...]:
    """By entity; what only tells several apart is left out of one, so that it does not change with it."""
    ambiguous = len(several) > 1
    candidates = [
        EntityCandidate(
            entity=found.entity,
            confidence=_CONFIDENCE[found.texts[text]],
            disambiguation=key[1],
            docs=tuple(sorted(found.docs)) if ambiguous else (),
            definers=tuple(sorted(found.definers)) if ambiguous else (),
            is_prefix=found.texts[text] is NameRole.CODE_PREFIX,
        )
        for key, found in several
    ]
    return tuple(sorted(candidates, key=lambda candidate: candidate.entity))


def _is_unclear(several: tuple[EntityCandidate, ...]) -> bool:
    return sum(not candidate.is_prefix for candidate in several) > MAX_HOMONYMS


def _main_forms(names: Iterable[Name]) -> dict[str, Key]:
    """By folded text the entity that a term is: that of the one title that reads so, else the least form."""
    titles: dict[str, set[Key]] = {}
    terms: dict[str, set[Key]] = {}
    for name in names:
        if name.role in _TERMS or name.role is NameRole.TITLE:
            forms = terms if name.role in _TERMS else titles
            forms.setdefault(name.folded, set()).add(_key(name))
    return {
        folded: min(titles[folded] if len(titles.get(folded, ())) == 1 else forms)
        for folded, forms in terms.items()
    }


def _key(name: Name) -> Key:
    return name.entity, name.disambiguation


Meanings = Mapping[str, tuple[EntityCandidate, ...]]


class NamesByEntity(Protocol):
    """All names of documents, before and after, by the folded name of their entity (`Name.folded`)."""

    def of(self, folded: Collection[str]) -> Iterable[Stated]:
        """Names of some entities, before and after."""

    def called(self, texts: Collection[str]) -> Set[str]:
        """Folded entities that have one of the texts as a name, before or after, and maybe others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NameChanges:
    """What differs between the catalogues of two generations, and may matter to rows.

    `named` are documents that other entities name now, or name more surely, them or a section; `about` those
    of them that are about another entity, and perhaps more; `texts` names that may mean something else in a
    document whose own names stay; `entities` ids of those that came, went or are called otherwise, `after`
    those of them that are there; `labels` by how many labels there are more.
    """

    named: frozenset[str] = frozenset()
    about: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    entities: frozenset[str] = frozenset()
    after: Mapping[str, Entity] = field(default_factory=dict)
    labels: int = 0


def entities_near(changed: Iterable[Stated], names: NamesByEntity) -> frozenset[str]:
    """Return the folded names of the entities that changed, and of all that share a text with one of them.

    What a text means, which nodes an entity names and what is a label follows from these, for all of them.
    """
    touched = frozenset(one.name.folded for one in changed)
    said = {text for one in names.of(touched) for text in (one.name.text, one.name.entity)}
    return touched.union(names.called(said), (text.casefold() for text in said))


def compare_names(before: Iterable[Stated], after: Iterable[Stated], *, changing: Set[str]) -> NameChanges:
    """Compare two catalogues, or those parts of them that `entities_near` has found to differ.

    Args: changing: documents whose names may differ.
    """
    one, other = build_catalogue(before), build_catalogue(after)
    named = _differing(one.by_doc, other.by_doc)
    entities = _differing(one.entities, other.entities)
    return NameChanges(
        named=named,
        about=frozenset(_about(named, one, other)),
        texts=frozenset(_read_otherwise(one.meanings, other.meanings, changing)),
        entities=entities,
        after={id_: other.entities[id_] for id_ in sorted(entities & other.entities.keys())},
        labels=len(other.labels) - len(one.labels),
    )


def _read_otherwise(before: Meanings, after: Meanings, changing: Set[str]) -> Iterator[str]:
    """Texts that mean something else to others than the documents that are *changing*.

    Who else explains a term is nothing to a document: an acronym of two meanings, which every new document
    explains once more, would be read again in all that use it.
    """
    for text in _differing(before, after):
        one, other = (_to_others(meanings.get(text, ()), changing) for meanings in (before, after))
        if one != other:
            yield text


def _to_others(candidates: Iterable[EntityCandidate], changing: Set[str]) -> list[EntityCandidate]:
    return [replace(one, definers=tuple(sorted({*one.definers} - changing))) for one in candidates]


def _about(named: Collection[str], before: Catalogue, after: Catalogue) -> Iterator[str]:
    return (doc for doc in named if before.by_node.get(doc) != after.by_node.get(doc))


def _differing(before: Mapping[str, object], after: Mapping[str, object]) -> frozenset[str]:
    return frozenset(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
