"""What the next generation calls things, and the documents that a name which comes or goes touches."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from flows.derive.stated import StatedNames
from flows.run.contexts import DeriveContext
from ingest.link.catalogue import Catalogue, Stated, build_catalogue
from ingest.link.mentions import is_anchor, mention_edges, name_edges, read_document
from ingest.link.relations import relation_edges
from ingest.link.renaming import NameChanges, compare_names, entities_near
from ingest.link.sieve import sieve_of
from ingest.link.spotting import find_catalogued
from schemas.causes import caused_by
from schemas.changes import DocumentChange
from schemas.cost import Cause
from schemas.documents import LiveDocument
from schemas.edges import Edge
from schemas.fragment import GraphFragment
from schemas.nodes import Entity
from schemas.report import NameCounts

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

    run: DeriveContext
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
