"""What is called otherwise in the next generation, from the names that documents state."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from ingest.link.catalogue import Catalogue, Stated, build_catalogue


@dataclass(frozen=True, slots=True, kw_only=True)
class NameChanges:
    """What differs between the catalogues of two generations, and may matter to rows.

    `named` are documents that other entities name now, or name more surely, them or a section; `about` those
    of them that are about another entity, and perhaps more; `texts` names that mean something else;
    `entities` ids of those that came, went or are called otherwise.
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
    return NameChanges(
        named=named,
        about=frozenset(_about(named, before, after)),
        texts=_differing(before.meanings, after.meanings),
        entities=_differing(before.entities, after.entities),
    )


def _near(changed: Collection[Stated], stated: Sequence[Stated], kept: Sequence[Stated]) -> frozenset[str]:
    """Folded names of the entities that changed, and of all that share a text with one of them."""
    touched = {_folded(one) for one in changed}
    texts = {one.name.text for one in chain(stated, kept) if _folded(one) in touched}
    return frozenset(_folded(one) for one in chain(stated, kept) if one.name.text in texts) | touched


def _about(named: Collection[str], before: Catalogue, after: Catalogue) -> Iterator[str]:
    return (doc for doc in named if before.by_node.get(doc) != after.by_node.get(doc))


def _folded(stated: Stated) -> str:
    # Terms that differ in their use of capitals alone are one entity.
    return stated.name.entity.casefold()


def _differing(before: Mapping[str, object], after: Mapping[str, object]) -> frozenset[str]:
    return frozenset(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
