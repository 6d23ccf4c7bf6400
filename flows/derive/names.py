"""What the next generation calls things, and the documents that a name which comes or goes touches."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from flows.run.contexts import DeriveContext
from ingest.link.catalogue import Catalogue, Stated, build_catalogue
from ingest.link.mentions import mention_edges, name_edges, read_document
from ingest.link.relations import relation_edges
from ingest.link.renaming import NameChanges, compare_names
from ingest.link.spotting import find_catalogued
from schemas.causes import caused_by
from schemas.changes import DocumentChange
from schemas.cost import Cause
from schemas.documents import LiveDocument
from schemas.edges import Edge
from schemas.fragment import GraphFragment
from schemas.nodes import Entity
from schemas.report import NameCounts

MANY = 1000
"""Changed names beyond which every text is read once, since the store reads them all for each hundred."""


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

    @property
    def after(self) -> Catalogue:
        """The catalogue of the next generation."""
        return self._catalogues[0]

    @property
    def renaming(self) -> NameChanges:
        """What is called otherwise than in the base generation."""
        return self._catalogues[1]

    @cached_property
    def _catalogues(self) -> tuple[Catalogue, NameChanges]:
        # Read once, and not kept: the names of a large index are hundreds of thousands.
        with caused_by(Cause.NAMES):
            held = self.run.index.ledger.names.held(self.base, without_docs=self.changes.keys())
            kept = [Stated(doc, name) for doc, name in held]
            old, new = [*self._changed(old=True)], [*self._changed(old=False)]
            return build_catalogue((*kept, *new)), compare_names(kept, old, new)

    def speaking(self) -> frozenset[str]:
        """Documents of the base whose text holds a name that means something else than it did."""
        texts, chunks = self.renaming.texts, self.run.index.chunks.at(self.base)
        if len(texts) <= MANY:
            return frozenset(chunks.documents_containing(texts))
        changed, found = Catalogue(meanings=dict.fromkeys(texts, ())), set[str]()
        for docs, said in chunks.texts():
            rows = zip(docs, said, strict=True)
            found.update(doc for doc, text in rows if doc not in found and find_catalogued(text, changed))
        return frozenset(found)

    def edges(self, fragment: GraphFragment, *, source: str, targets: Mapping[str, str]) -> tuple[Edge, ...]:
        """Return what the document is called, what its passages mention, and how its sentences relate it."""
        extractor = self.run.extractor()
        read = read_document(fragment, self.after, targets=targets, extractor=extractor)
        self.untold.append(read.dropped)
        self.found.update(read.found)
        self.unclear.update(read.unclear)
        return (
            *name_edges(fragment.doc, self.after, source=source),
            *mention_edges(read, source=source),
            *relation_edges(read, source=source),
        )

    def counts(self) -> NameCounts:
        """How many names make no edge."""
        return NameCounts(
            labels=len(self.after.labels),
            unclear=self.unclear.total(),
            dropped=sum(self.untold),
        )

    def _changed(self, *, old: bool) -> Iterator[Stated]:
        versions = {doc: _version(change, old=old) for doc, change in self.changes.items()}
        live = {doc: version for doc, version in versions.items() if version is not None}
        names = self.run.index.ledger.names.of_fragments({v.fragment_sha for v in live.values()})
        for doc, version in sorted(live.items()):
            yield from (Stated(doc, name) for name in names.get(version.fragment_sha, ()))


def _version(change: DocumentChange, *, old: bool) -> LiveDocument | None:
    return change.old if old else change.new
