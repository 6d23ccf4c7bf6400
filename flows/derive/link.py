"""Step 6: cross-document edges, anchor texts and navigation; the rows of a generation are decided here."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from flows.derive.embed import embed_chunks
from flows.derive.entities import EntityPlan, SourceCounts, growth_of
from flows.derive.names import NextDocIds, NextNames
from flows.derive.tools import NextTools
from flows.run.contexts import IndexContext, load_fragment
from flows.run.index import Index
from flows.run.values import Difference
from indexes.ports import GraphReader
from indexes.stores.ledger.links import doc_id_target
from ingest.diff.feed import DocumentStep, document_steps, tool_steps
from ingest.diff.guard import emptied_documents
from ingest.diff.rows import Observed, as_observed, mark, row_changes
from ingest.link.authority import DocumentLinks
from ingest.link.catalogue import Catalogue
from ingest.link.explained_by import explained_by_edges
from ingest.link.links import (
    LinkTexts,
    give_anchor_texts,
    least_pages,
    link_edges,
    other_names,
    redirect_ends,
    reference_edges,
    resolve_targets,
    translation_edges,
    unresolved_references,
    with_navigation,
)
from schemas.changes import ChangeKind, DocumentChange, RowChanges
from schemas.cost import Cause, caused_by
from schemas.documents import LiveDocument
from schemas.edges import Edge, EdgeKind, LinkPosition
from schemas.errors import DamageFound
from schemas.fragment import GraphFragment
from schemas.nodes import Chunk
from schemas.report import Problem


@dataclass(frozen=True, kw_only=True)
class NextNavigation:
    """Texts of links that most pages of a source repeat: in the base generation, and in the next one."""

    run: IndexContext
    base: int
    changes: Mapping[str, DocumentChange]
    _held: dict[str, tuple[frozenset[str], frozenset[str]]] = field(default_factory=dict)

    def texts(self, source: str) -> frozenset[str]:
        """What is navigation in the next generation."""
        return self._of(source)[1]

    def touched(self) -> frozenset[str]:
        """Documents of the base with a link that becomes navigation, or is it no more."""
        links, found = self.run.index.ledger.links, set[str]()
        versions = (live for change in self.changes.values() for live in (change.old, change.new))
        for source in sorted({live.source for live in versions if live is not None}):
            before, after = self._of(source)
            found.update(links.documents_linking_by(before ^ after, source=source, generation=self.base))
        return frozenset(found)

    def _of(self, source: str) -> tuple[frozenset[str], frozenset[str]]:
        if source not in self._held:
            links = self.run.index.ledger.links
            old, new = self._changed(source, old=True), self._changed(source, old=False)
            pages = links.linking_pages(source, generation=self.base)
            # What stands on fewer pages is navigation neither before nor after, so it is not even read.
            least = min(least_pages(pages), least_pages(pages - old.pages + new.pages) - new.pages)
            counts = links.body_texts(source, generation=self.base, at_least=least)
            held = LinkTexts(pages=pages, counts=counts)
            self._held[source] = (held.repeated(), held.replaced(old, new).repeated())
        return self._held[source]

    def _changed(self, source: str, *, old: bool) -> LinkTexts:
        versions = (change.old if old else change.new for change in self.changes.values())
        shas = {live.fragment_sha for live in versions if live is not None and live.source == source}
        return LinkTexts(**self.run.index.ledger.links.body_texts_of(shas))


DOCUMENTS_PER_PAYLOAD = 100
DECIDED_ELSEWHERE = frozenset({EdgeKind.SIMILAR_TO})
"""Edges that follow from all documents together; flows/derive/neighbours.py decides them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedRows:
    """Rows to write for some documents, what the feed says of them, by how much each source's counts grow.

    `texts` is how many texts had no vector; `links` what the documents are and link to.
    """

    rows: RowChanges
    links: DocumentLinks
    steps: tuple[DocumentStep, ...]
    growth: SourceCounts
    emptied: int = 0
    texts: int = 0


@dataclass(frozen=True, kw_only=True)
class NextGeneration:
    """The documents as the next generation will hold them."""

    run: IndexContext
    base: int
    changes: Mapping[str, DocumentChange]
    as_of: str
    observed: Mapping[str, Observed] = field(default_factory=dict)

    def affected(self) -> tuple[str, ...]:
        """Documents whose rows may change: the changed ones, those that link to what came, went, leads
        elsewhere now or has another id, those whose incoming links may have changed, those whose text names
        what has come, gone or changed, and those with a link that becomes navigation or is it no more; in
        id order.
        """
        ledger = self.run.index.ledger
        moved = [c for c in self.changes.values() if c.kind in (ChangeKind.ADDED, ChangeKind.REMOVED)]
        uris = {change.uri for change in moved}
        leading = {uri for uri, end in self.redirects.items() if end in uris}
        leading |= {name for uri in uris for name in other_names(uri)}
        linking = ledger.links.linking_documents(
            uris | leading | self._doc_ids_moved() | self.led_elsewhere(), generation=self.base
        )
        targets = self.resolve(self._linked_otherwise()).values()
        with caused_by(Cause.NAMES):
            naming = (*self._named_otherwise(), *self.names.speaking(), *self.tools.touched())
        return tuple(sorted({*self.changes, *linking, *targets, *naming, *self.navigation.touched()}))

    def _doc_ids_moved(self) -> frozenset[str]:
        """Targets of the document ids that a document has and had not, or had and has no more."""
        ids = ([{live.doc_id} if live else set() for live in (c.old, c.new)] for c in self.changes.values())
        return frozenset(doc_id_target(one) for old, new in ids for one in old ^ new if one)

    def _linked_otherwise(self) -> frozenset[str]:
        """What changing documents link to and did not, or did and do not, or link to by other words."""
        shas = {live.fragment_sha for change in self.changes.values() for live in _versions(change)}
        links = self.run.index.ledger.links.of_fragments(shas)
        of_versions = (
            [links.get(live.fragment_sha, frozenset()) if live else frozenset() for live in (c.old, c.new)]
            for c in self.changes.values()
        )
        return frozenset(link.target for old, new in of_versions for link in old ^ new)

    def _named_otherwise(self) -> Iterable[str]:
        """Documents that have other names now, and those whose texts link to one that has another title."""
        renamed = self.live(tuple(self.names.renaming.named))
        uris = {live.uri for doc, live in renamed.items() if doc in self.names.renaming.about}
        leading = {uri for uri, end in self.redirects.items() if end in uris}
        leading |= {name for uri in uris for name in other_names(uri)}
        linking = self.run.index.ledger.links.linking_documents(
            uris | leading, generation=self.base, position=LinkPosition.BODY
        )
        return (*renamed, *linking)

    def resolve(self, targets: Iterable[str]) -> Mapping[str, str]:
        """Node id of each link target that is live in the next generation; redirects are followed."""
        wanted = {target for target in targets if not target.startswith("doc_id:")}
        return resolve_targets(wanted, redirects=self.redirects, live=self.live)

    def led_elsewhere(self) -> frozenset[str]:
        """Addresses whose redirect ends at another document than in the base generation."""
        ledger = self.run.index.ledger
        before, after = redirect_ends(ledger.redirects.at(self.base)), self.redirects
        changed = {uri for uri in before.keys() | after.keys() if before.get(uri) != after.get(uri)}
        then = resolve_targets(
            changed, redirects=before, live=lambda docs: ledger.generations.live(self.base, docs=docs)
        )
        now = self.resolve(changed)
        return frozenset(uri for uri in changed if then.get(uri) != now.get(uri))

    @cached_property
    def navigation(self) -> NextNavigation:
        """The links of the text that are navigation, as it will be."""
        return NextNavigation(run=self.run, base=self.base, changes=self.changes)

    @cached_property
    def tools(self) -> NextTools:
        """The tools of all sources, as they will be."""
        return NextTools(run=self.run, base=self.base, changes=self.changes)

    @cached_property
    def names(self) -> NextNames:
        """What documents, sections and terms are called, as it will be."""
        return NextNames(run=self.run, base=self.base, changes=self.changes)

    @cached_property
    def graph(self) -> GraphReader:
        """The rows that are there, of which only those that differ are written."""
        return self.run.index.graph.at(self.base)

    @cached_property
    def entities(self) -> EntityPlan:
        """What documents speak of, as it will be."""
        return EntityPlan(names=self.names, graph=self.graph)

    @cached_property
    def locations(self) -> Mapping[str, str]:
        """Where each address that leads elsewhere leads, whichever source knows it."""
        return self.run.index.ledger.redirects.after(self.base)

    @cached_property
    def redirects(self) -> Mapping[str, str]:
        """Where each of them ends, through the others."""
        return redirect_ends(self.locations)

    @cached_property
    def doc_ids(self) -> NextDocIds:
        """What documents have for ids of their own, as it will be."""
        generations = self.run.index.ledger.generations
        return NextDocIds(generations=generations, base=self.base, changes=self.changes)

    def live(self, docs: Sequence[str]) -> Mapping[str, LiveDocument]:
        """The documents among *docs* that the next generation holds."""
        held = self.run.index.ledger.generations.live(self.base, docs=docs)
        kept = {doc: live for doc, live in held.items() if doc not in self.changes}
        new = {doc: c.new for doc in docs if (c := self.changes.get(doc)) and c.new}
        return kept | new


def redirects_matter(run: IndexContext, difference: Difference) -> bool:
    """Whether links lead to other documents than in the base generation although no document changed."""
    changes = {change.doc: change for change in difference.changes}
    generation = NextGeneration(run=run, base=difference.base, changes=changes, as_of="")
    led = generation.led_elsewhere()
    return bool(run.index.ledger.links.linking_documents(led, generation=difference.base))


def link_documents(generation: NextGeneration, docs: Sequence[str]) -> LinkedRows:
    """Decide the rows of some documents and make sure that each of their texts has a vector."""
    run = generation.run
    live = generation.live(docs)
    # What a lost ledger left unknown stays as it is until the run of its own source.
    docs = [doc for doc in docs if doc not in live or live[doc].fragment_sha]
    live = {doc: live[doc] for doc in docs if doc in live}
    fragments = {
        doc: with_navigation(fragment, generation.navigation.texts(live[doc].source))
        for doc, fragment in _load(run, live).items()
    }
    nodes = [mark(node, live[doc]) for doc, fragment in fragments.items() for node in fragment.nodes]
    targets = generation.resolve(
        target
        for f in fragments.values()
        for target in (*(link.target for link in f.links), *f.translations, *f.told_translations)
    )
    catalogue = generation.names.catalogue_for(live, fragments, targets)
    doc_ids = generation.doc_ids.among(r.target for f in fragments.values() for r in f.references)
    edges = _edges(generation, fragments, live, targets, doc_ids, catalogue)
    chunks = generation.tools.give_names(_chunks(generation, fragments, live), edges)
    graph, store = generation.graph, run.index.chunks.at(generation.base)
    ours = [edge for edge in graph.edges_of(docs) if edge.kind not in DECIDED_ELSEWHERE]
    held = (graph.nodes_of(docs), ours, store.of_documents(docs))
    rows = row_changes(
        nodes=(nodes, held[0]),
        edges=(edges, held[1]),
        chunks=(chunks, held[2]),
        changed_at=generation.as_of,
    )
    rows = replace(
        rows,
        nodes=(*rows.nodes, *generation.entities.add(docs, edges, ours, catalogue)),
        chunks=as_observed(rows.chunks, generation.observed),
    )
    _report_unresolved(generation, fragments.values(), doc_ids)
    growth = growth_of((nodes, edges, chunks), held)
    emptied = emptied_documents(nodes, held[2], chunks) & live.keys()
    texts = embed_chunks(run.encoding(), rows.chunks)
    uris = {doc: generation.changes[doc].uri if doc in generation.changes else live[doc].uri for doc in docs}
    steps = (*document_steps(held[2], rows, uris=uris), *tool_steps(held[0], rows, uris=uris))
    links = DocumentLinks()
    links.add(docs, nodes, edges)
    return LinkedRows(rows=rows, links=links, steps=steps, growth=growth, emptied=len(emptied), texts=texts)


def _load(run: IndexContext, live: Mapping[str, LiveDocument]) -> dict[str, GraphFragment]:
    """Read the documents' fragments; what is damaged or lost is parsed again by the next run of its source.

    Raises: DamageFound: names the first of those.
    """
    fragments: dict[str, GraphFragment] = {}
    lost: list[LiveDocument] = []
    for doc, document in live.items():
        try:
            fragments[doc] = load_fragment(run.index, document.fragment_sha)
        except DamageFound:
            lost.append(document)
    if lost:
        forget_parsed_form(run.index, lost)
        message = f"parsed document is damaged or lost; run source {lost[0].source!r} again, which parses it"
        raise DamageFound(message, subject=lost[0].uri)
    return fragments


def forget_parsed_form(index: Index, lost: Sequence[LiveDocument]) -> None:
    """Let the next runs of their sources parse these documents, though their bytes did not change."""
    documents = index.ledger.documents
    for live in lost:
        known = documents.get(live.source, [live.uri]).values()
        documents.save([replace(row, parsed_sha=None) for row in known])


def _edges(
    generation: NextGeneration,
    fragments: Mapping[str, GraphFragment],
    live: Mapping[str, LiveDocument],
    targets: Mapping[str, str],
    doc_ids: Mapping[str, str],
    catalogue: Catalogue,
) -> list[Edge]:
    edges: list[Edge] = []
    for doc, fragment in fragments.items():
        source = live[doc].source
        edges += fragment.edges
        edges += link_edges(fragment, source=source, resolve=targets.get)
        edges += translation_edges(fragment, source=source, resolve=targets.get)
        edges += reference_edges(fragment, source=source, resolve=lambda name: doc_ids.get(name.casefold()))
        edges += generation.names.edges(fragment, catalogue, source=source, targets=targets)
        edges += explained_by_edges(
            fragment.chunks, generation.tools.names(source), source=source, agree=generation.tools.agree
        )
    return edges


def _chunks(
    generation: NextGeneration, fragments: Mapping[str, GraphFragment], live: Mapping[str, LiveDocument]
) -> list[Chunk]:
    incoming = generation.run.index.ledger.links.incoming(
        {document.uri for document in live.values()},
        generation=generation.base,
        without_docs=generation.changes.keys(),
        with_fragments={c.new.fragment_sha for c in generation.changes.values() if c.new},
    )
    by_target: dict[str, list[tuple[str | None, str]]] = {}
    for link in incoming:
        by_target.setdefault(link.target, []).append((link.fragment, link.text))
    chunks: list[Chunk] = []
    for doc, fragment in fragments.items():
        named = give_anchor_texts(fragment.chunks, by_target.get(live[doc].uri, ()))
        chunks += [
            replace(
                chunk,
                fetched_at=live[doc].fetched_at,
                last_modified=live[doc].last_modified,
                last_modified_origin=live[doc].last_modified_origin,
                stale=live[doc].stale,
            )
            for chunk in named
        ]
    return chunks


def _report_unresolved(
    generation: NextGeneration, fragments: Iterable[GraphFragment], doc_ids: Mapping[str, str]
) -> None:
    problems = [
        Problem(url=fragment.uri, reason=f"front matter names {target!r}, which no document has")
        for fragment in fragments
        for target in unresolved_references(fragment, resolve=lambda name: doc_ids.get(name.casefold()))
    ]
    generation.run.index.ledger.runs.add_problems(generation.run.run_id, problems)


def _versions(change: DocumentChange) -> tuple[LiveDocument, ...]:
    return tuple(live for live in (change.old, change.new) if live is not None)
