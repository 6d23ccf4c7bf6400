"""What is called otherwise in the next generation, from the names that documents state."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Protocol

from ingest.link.catalogue import Catalogue, EntityCandidate, Stated, build_catalogue
from schemas.nodes import Entity

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
