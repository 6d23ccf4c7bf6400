"""What documents state as names, in the base generation and in the next, looked up as it is asked for."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from flows.derive.remembered import Remembered
from indexes.stores.ledger.names import NameIndex
from ingest.link.catalogue import (
    MAX_HOMONYMS,
    Catalogue,
    EntityGroup,
    Stated,
    catalogue_of,
    gather_names,
)
from schemas.changes import DocumentChange
from schemas.documents import LiveDocument
from schemas.fragment import GraphFragment
from schemas.names import WORD
from schemas.nodes import Entity


@dataclass(kw_only=True)
class StatedNames:
    """Keeps the port `NamesByEntity`. What a run does not ask for is never read.

    A name and all that may be mistaken for it are few; all names of a large index are millions. Of an entity
    that names very many nodes only so many are read as tell that it means none of them.
    """

    names: NameIndex
    base: int
    changes: Mapping[str, DocumentChange]
    _kept: dict[str, list[Stated]] = field(default_factory=dict)
    _groups: dict[str, EntityGroup | None] = field(default_factory=dict)
    _first: Remembered[bool] = field(default_factory=Remembered)
    _starting: Remembered[frozenset[str]] = field(default_factory=Remembered)

    @cached_property
    def old(self) -> tuple[Stated, ...]:
        """Names of the documents that change, as they are in the base generation."""
        return self._changed(old=True)

    @cached_property
    def new(self) -> tuple[Stated, ...]:
        """Names of the documents that change, as they will be."""
        return self._changed(old=False)

    def of(self, folded: Collection[str]) -> tuple[Stated, ...]:
        """All names of some entities, before and after."""
        changed = (one for one in (*self.old, *self.new) if one.name.folded in folded)
        return (*self.kept(folded), *changed)

    def called(self, texts: Collection[str]) -> frozenset[str]:
        """Folded entities that have one of the texts as a name."""
        return self.names.entities_called(texts)

    def kept(self, folded: Collection[str]) -> tuple[Stated, ...]:
        """Names of some entities, but for those that documents state which change."""
        asked = {*folded}
        if missing := asked - self._kept.keys():
            self._kept |= {one: [] for one in missing}
            found = self.names.of_entities(
                missing,
                generation=self.base,
                without_docs=[doc for doc, change in self.changes.items() if change.old],
                at_most=MAX_HOMONYMS + 1,
            )
            for doc, name in found:
                if doc not in self.changes:
                    self._kept[name.folded].append(Stated(doc, name))
        return tuple(one for each in sorted(asked) for one in self._kept[each])

    def before(self, folded: Collection[str]) -> tuple[Stated, ...]:
        """Names of some entities in the base generation."""
        return (*self.kept(folded), *(one for one in self.old if one.name.folded in folded))

    def after(self, folded: Collection[str]) -> tuple[Stated, ...]:
        """Names of some entities in the next generation."""
        new = (one for each in sorted(folded) for one in self._new_by_entity.get(each, ()))
        return (*self.kept(folded), *new)

    def catalogue_for(
        self, live: Mapping[str, LiveDocument], fragments: Iterable[GraphFragment], linked: Collection[str]
    ) -> Catalogue:
        """The part of the next catalogue that documents may need: what their texts may name, what names them,
        and what names those that they link to.
        """
        own = self._of_live(live)
        texts = (chunk.text for fragment in fragments for chunk in fragment.chunks)
        wanted = {one.name.folded for one in (*own, *self._about(linked))}.union(self._in_texts(texts))
        groups = self._gathered(wanted)
        for one in own:  # of those that explain a term one is known, and it tells who does
            groups[one.name.folded].add(one)
        return catalogue_of(groups.values())

    def listed(self, folded: Collection[str]) -> Mapping[str, Entity]:
        """Entities of the next catalogue by id."""
        return catalogue_of(self._gathered(folded).values()).entities

    def _gathered(self, folded: Collection[str]) -> dict[str, EntityGroup]:
        """What the next generation says of entities; of those that nothing names there is none."""
        missing = {*folded} - self._groups.keys()
        gathered = gather_names(self.after(missing))
        self._groups |= {one: gathered.get(one) for one in missing}
        return {one: group for one in folded if (group := self._groups[one]) is not None}

    def _in_texts(self, texts: Iterable[str]) -> Iterator[str]:
        """Entities with a name that may start somewhere in the texts."""
        said = [WORD.findall(text) for text in texts]
        starts = {word for words in said for word in words}
        first = self._first.among(starts, self.names.first_words)
        starts |= {f"{one} {two}" for words in said for one, two in pairwise(words) if one in first}
        known = self._starting.among(starts, self.names.entities_starting)
        return (folded for several in known.values() for folded in several)

    def _about(self, docs: Collection[str]) -> tuple[Stated, ...]:
        """What documents themselves are called in the next generation."""
        staying = [doc for doc in docs if doc not in self.changes]
        held = self.names.of_documents(staying, generation=self.base)
        new = (one for one in self.new if one.doc in docs and one.name.node == one.doc)
        return (*(Stated(doc, name) for doc, name in held), *new)

    def _of_live(self, live: Mapping[str, LiveDocument]) -> tuple[Stated, ...]:
        names = self.names.of_fragments({document.fragment_sha for document in live.values()})
        return tuple(
            Stated(doc, name) for doc, of in sorted(live.items()) for name in names.get(of.fragment_sha, ())
        )

    @cached_property
    def _new_by_entity(self) -> Mapping[str, list[Stated]]:
        found: dict[str, list[Stated]] = {}
        for one in self.new:
            found.setdefault(one.name.folded, []).append(one)
        return found

    def _changed(self, *, old: bool) -> tuple[Stated, ...]:
        versions = {doc: change.old if old else change.new for doc, change in self.changes.items()}
        return self._of_live({doc: version for doc, version in versions.items() if version is not None})
