"""What the next generation calls things, and the documents that a name which comes or goes touches."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from flows.wiring import Pipeline
from ingest.link.catalogue import Catalogue, Stated, build_catalogue
from ingest.link.mentions import mention_edges, name_edges, read_document
from ingest.link.relations import relation_edges
from ingest.link.spotting import find_catalogued
from schemas.changes import DocumentChange
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

    pipeline: Pipeline
    base: int
    changes: Mapping[str, DocumentChange]
    found: dict[str, Entity] = field(default_factory=dict)
    unclear: Counter[str] = field(default_factory=Counter)
    untold: list[int] = field(default_factory=list)

    @cached_property
    def after(self) -> Catalogue:
        """The catalogue of the next generation."""
        return build_catalogue((*self._stated(without=self.changes), *self._changed(old=False)))

    @cached_property
    def before(self) -> Catalogue:
        """The catalogue of the base generation; the same object where no name came or went."""
        if set(self._changed(old=True)) == set(self._changed(old=False)):
            return self.after
        return build_catalogue(self._stated(without={}))

    @cached_property
    def renamed(self) -> frozenset[str]:
        """Documents that other entities, or surer ones, name now, them or a section of theirs."""
        return frozenset() if self.before is self.after else _differing(self.before.by_doc, self.after.by_doc)

    @cached_property
    def retitled(self) -> frozenset[str]:
        """Documents that are about another entity now: links in a text that lead to them mean that one."""
        if self.before is self.after:
            return frozenset()
        return frozenset(
            doc for doc in self.renamed if self.before.by_node.get(doc) != self.after.by_node.get(doc)
        )

    def speaking(self) -> frozenset[str]:
        """Documents of the base whose text holds a name that means something else than it did."""
        if self.before is self.after:
            return frozenset()
        texts = _differing(self.before.meanings, self.after.meanings)
        chunks = self.pipeline.index.chunks.at(self.base)
        if len(texts) <= MANY:
            return frozenset(chunks.documents_containing(texts))
        changed = Catalogue(meanings=dict.fromkeys(texts, ()))
        return frozenset(chunk.doc for chunk in chunks.scan() if find_catalogued(chunk.text, changed))

    def edges(self, fragment: GraphFragment, *, source: str, targets: Mapping[str, str]) -> tuple[Edge, ...]:
        """Give what the document is called, what its passages mention, and how its sentences relate that."""
        extractor = self.pipeline.extractor
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

    def _stated(self, *, without: Mapping[str, object]) -> Iterator[Stated]:
        held = self.pipeline.index.ledger.names.held(self.base, without_docs=without.keys())
        return (Stated(doc, name) for doc, name in held)

    def _changed(self, *, old: bool) -> Iterator[Stated]:
        versions = {doc: _version(change, old=old) for doc, change in self.changes.items()}
        live = {doc: version for doc, version in versions.items() if version is not None}
        names = self.pipeline.index.ledger.names.of_fragments({v.fragment_sha for v in live.values()})
        for doc, version in sorted(live.items()):
            yield from (Stated(doc, name) for name in names.get(version.fragment_sha, ()))


def _differing(before: Mapping[str, object], after: Mapping[str, object]) -> frozenset[str]:
    return frozenset(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))


def _version(change: DocumentChange, *, old: bool) -> LiveDocument | None:
    return change.old if old else change.new
