"""What is called otherwise in the next generation, from the names that documents state."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain

from ingest.link.catalogue import Catalogue, EntityCandidate, Stated, build_catalogue

Meanings = Mapping[str, tuple[EntityCandidate, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NameChanges:
    """What differs between the catalogues of two generations, and may matter to rows.

    `named` are documents that other entities name now, or name more surely, them or a section; `about` those
    of them that are about another entity, and perhaps more; `texts` names that may mean something else in a
    document whose own names stay; `entities` ids of those that came, went or are called otherwise.
    """

    named: frozenset[str] = frozenset()
    about: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    entities: frozenset[str] = frozenset()


def compare_names(kept: Sequence[Stated], old: Collection[Stated], new: Collection[Stated]) -> NameChanges:
    """Compare the catalogue of *kept* and *old* with that of *kept* and *new*.

    Both are made of those entities alone that have a name or spelling in common with one that changed. What
    a text means, and which nodes an entity names, follows from these.
    """
    changed = {*old} ^ {*new}
    if not changed or not (kept or old):
        return NameChanges()
    near = _near(changed, (*old, *new), kept)
    before, after = (
        build_catalogue(stated for stated in chain(kept, part) if _folded(stated) in near)
        for part in (old, new)
    )
    named = _differing(before.by_doc, after.by_doc)
    changing = frozenset(one.doc for one in chain(old, new))
    return NameChanges(
        named=named,
        about=frozenset(_about(named, before, after)),
        texts=frozenset(_read_otherwise(before.meanings, after.meanings, changing)),
        entities=_differing(before.entities, after.entities),
    )


def _near(changed: Collection[Stated], stated: Sequence[Stated], kept: Sequence[Stated]) -> frozenset[str]:
    """Folded names of the entities that changed, and of all that share a text with one of them."""
    touched = {_folded(one) for one in changed}
    texts = {one.name.text for one in chain(stated, kept) if _folded(one) in touched}
    return frozenset(_folded(one) for one in chain(stated, kept) if one.name.text in texts) | touched


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


def _folded(stated: Stated) -> str:
    # Terms that differ in their use of capitals alone are one entity.
    return stated.name.entity.casefold()


def _differing(before: Mapping[str, object], after: Mapping[str, object]) -> frozenset[str]:
    return frozenset(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
