"""Names and ids that documents state in the base and the next generation, and whom a change touches."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Generic, TypeVar

from flows.run.contexts import IndexContext
from indexes.stores.ledger.generations import Generations
from indexes.stores.ledger.names import NameIndex
from ingest.link.catalogue import (
    MAX_HOMONYMS,
    Catalogue,
    EntityGroup,
    NameChanges,
    Stated,
    build_catalogue,
    catalogue_of,
    compare_names,
    entities_near,
    gather_names,
)
from ingest.link.mentions import is_anchor, mention_edges, name_edges, read_document
from ingest.link.relations import relation_edges
from ingest.link.spotting import find_catalogued, sieve_of
from schemas.changes import DocumentChange
from schemas.cost import Cause, caused_by
from schemas.documents import LiveDocument
from schemas.edges import Edge
from schemas.fragment import GraphFragment
from schemas.names import WORD
from schemas.nodes import Entity
from schemas.report import NameCounts

T = TypeVar("T")

NOTHINGS_KEPT = 200_000
"""Keys without an answer that are remembered: some 20 MB of short texts."""


@dataclass(slots=True)
class Remembered(Generic[T]):
    """What was found under keys, and under how many nothing was."""

    _found: dict[str, T] = field(default_factory=dict)
    _nothing: set[str] = field(default_factory=set)

    def among(
        self, keys: Collection[str], look_up: Callable[[Collection[str]], Mapping[str, T]]
    ) -> dict[str, T]:
        """Return what there is under the keys; those not seen before are looked up, all at once."""
        unknown = {*keys} - self._found.keys() - self._nothing
        found = look_up(unknown)
        if len(self._nothing) > NOTHINGS_KEPT:
            self._nothing.clear()
        self._found |= found
        self._nothing |= unknown - found.keys()
        return {key: self._found[key] for key in keys if key in self._found}


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


MANY = 150
"""Changed names beyond which every text is read once: to ask the store for so many costs as much
(bench/RESULTS.md)."""

SHARE = 8
"""To look names up for one document costs as much as to read those of some eight (bench/RESULTS.md)."""


@dataclass(frozen=True, kw_only=True)
class NextNames:
    """The names of all documents, before and after, and the edges that follow from those after.

    `found` are the entities that the texts read so far name and no catalogue lists; `unclear` counts the
    names in them that could mean several things, `untold` what a language model gave and they do not hold.
    """

    run: IndexContext
    base: int
    changes: Mapping[str, DocumentChange]
    found: dict[str, Entity] = field(default_factory=dict)
    unclear: Counter[str] = field(default_factory=Counter)
    untold: list[int] = field(default_factory=list)

    @cached_property
    def stated(self) -> StatedNames:
        """What documents state, before and after."""
        return StatedNames(names=self.run.index.ledger.names, base=self.base, changes=self.changes)

    @cached_property
    def renaming(self) -> NameChanges:
        """What is called otherwise than in the base generation; in an empty one nothing is."""
        with caused_by(Cause.NAMES):
            old, new = self.stated.old, self.stated.new
            if self.base == 0:
                return NameChanges(labels=len(self._whole.labels))
            near = entities_near({*old} ^ {*new}, self.stated)
            return compare_names(
                self.stated.before(near), self.stated.after(near), changing={one.doc for one in (*old, *new)}
            )

    @cached_property
    def _is_read_whole(self) -> bool:
        """Whether so many documents change that reading all names is cheaper than looking theirs up."""
        held = self.run.index.ledger.generations.count(self.base)
        return len(self.changes) * SHARE > held

    @cached_property
    def _whole(self) -> Catalogue:
        with caused_by(Cause.NAMES):
            held = self.run.index.ledger.names.held(self.base, without_docs=self.changes.keys())
            return build_catalogue((*(Stated(doc, name) for doc, name in held), *self.stated.new))

    def catalogue_for(
        self,
        live: Mapping[str, LiveDocument],
        fragments: Mapping[str, GraphFragment],
        targets: Mapping[str, str],
    ) -> Catalogue:
        """The part of the next generation's catalogue that concerns some documents.

        Args: targets: node id of the live document by link target.
        """
        if self._is_read_whole:
            return self._whole
        links = (link for fragment in fragments.values() for link in fragment.links)
        linked = {targets[link.target] for link in links if link.target in targets and is_anchor(link)}
        with caused_by(Cause.NAMES):
            return self.stated.catalogue_for(live, fragments.values(), linked)

    def listed(self, entities: Iterable[Entity]) -> Mapping[str, Entity]:
        """Those of some entities that the next generation's catalogue lists, as it does."""
        if self._is_read_whole:
            return self._whole.entities
        names = {entity.name.casefold() for entity in entities}
        with caused_by(Cause.NAMES):
            return self.stated.listed(names)

    def speaking(self) -> frozenset[str]:
        """Documents of the base whose text holds a name that means something else than it did."""
        texts, chunks = self.renaming.texts, self.run.index.chunks.at(self.base)
        if len(texts) <= MANY:
            return frozenset(chunks.documents_containing(texts))
        changed, found = Catalogue(meanings=dict.fromkeys(texts, ())), set[str]()
        may_name = sieve_of(texts)
        for docs, said in chunks.texts():
            for doc, text in zip(docs, said, strict=True):
                if doc not in found and may_name(text) and find_catalogued(text, changed):
                    found.add(doc)
        return frozenset(found)

    def edges(
        self, fragment: GraphFragment, catalogue: Catalogue, *, source: str, targets: Mapping[str, str]
    ) -> tuple[Edge, ...]:
        """Return what the document is called, what its passages mention, and how its sentences relate it."""
        extractor = self.run.extractor()
        read = read_document(fragment, catalogue, targets=targets, extractor=extractor)
        self.untold.append(read.dropped)
        self.found.update(read.found)
        self.unclear.update(read.unclear)
        return (
            *name_edges(fragment.doc, catalogue, source=source),
            *mention_edges(read, source=source),
            *relation_edges(read, source=source),
        )

    def counts(self) -> NameCounts:
        """How many names make no edge."""
        return NameCounts(
            labels=self._labels_before() + self.renaming.labels,
            unclear=self.unclear.total(),
            dropped=sum(self.untold),
        )

    def _labels_before(self) -> int:
        """How many labels the base generation has, as its run counted them."""
        generation = self.run.index.ledger.generations.get(self.base)
        counted = generation.details.get("names", {}).get("labels") if generation else 0
        if counted is None:
            held = self.run.index.ledger.names.held(self.base, without_docs=())
            return len(build_catalogue(Stated(doc, name) for doc, name in held).labels)
        return int(counted)


MOST_LOOKUPS = 5
"""To look a batch's ids up goes through all documents, at a seventh of the price of reading all their ids."""


@dataclass(kw_only=True)
class NextDocIds:
    """Looks ids up, batch by batch; once that has been many batches, reads all of them."""

    generations: Generations
    base: int
    changes: Mapping[str, DocumentChange]
    _remembered: Remembered[str] = field(default_factory=Remembered)
    _lookups: int = 0

    def among(self, doc_ids: Iterable[str]) -> dict[str, str]:
        """Node id by document id, case folded, of those asked for that a document will have.

        Of equal ids the lowest node id wins.
        """
        asked = {one.casefold() for one in doc_ids}
        held, new = self._held_among(asked), self._new
        return held | {one: min(new[one], held.get(one, new[one])) for one in asked & new.keys()}

    def _held_among(self, asked: Collection[str]) -> dict[str, str]:
        if self._lookups < MOST_LOOKUPS:
            return self._remembered.among(asked, self._look_up)
        return {one: self._all[one] for one in asked if one in self._all}

    def _look_up(self, folded: Collection[str]) -> Mapping[str, str]:
        self._lookups += bool(folded)
        return self.generations.by_doc_id(self.base, folded, without_docs=self.changes.keys())

    @cached_property
    def _all(self) -> Mapping[str, str]:
        return self.generations.by_doc_id(self.base, without_docs=self.changes.keys())

    @cached_property
    def _new(self) -> Mapping[str, str]:
        new = [change.new for change in self.changes.values() if change.new]
        return dict(sorted(((live.doc_id.casefold(), live.doc) for live in new if live.doc_id), reverse=True))
