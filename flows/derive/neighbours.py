"""Which passages are alike and which documents link to each other, worked out from those of the base."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from flows.run.contexts import IndexContext
from flows.run.generations import changes_model, links_file
from flows.run.index import Index, unrelated_in
from indexes.embed.screen import CodeFile, open_screen
from indexes.embed.unrelated import least_cosine
from indexes.embed.weights import ModelSpec, model_key
from indexes.frozen_plan import dump_payload
from indexes.stores.ledger.generations import Generation
from ingest.link.authority import DocumentLinks, LinkState, dump_links, load_links, no_links, replace_links
from ingest.link.chunk_columns import ChunkColumns, columns_of, encoded_text_of, joined, replace_chunks
from ingest.link.nearest import SCALE, Floats
from ingest.link.similar_to import (
    EdgeChanges,
    dump_similarity,
    edge_changes,
    held_rows,
    load_similarity,
    similar_changes,
    similar_rows,
)
from ingest.link.similarity import CodedVectors, Rule, Similarity, compare_chunks, nothing_similar
from schemas.batches import batched
from schemas.changes import RowChanges
from schemas.edges import EdgeKind
from schemas.errors import DamageFound
from schemas.ids import sha256_hex
from schemas.records import Record, to_record
from schemas.report import SimilarCounts

KIND = EdgeKind.SIMILAR_TO
EDGES_PER_PAYLOAD = 20_000
CHUNKS_READ = 5_000

_STATE, _FORMER_STATE = "neighbours", "state"
"""How a generation's details name the hash, and how they did for a file of another form. An earlier version
does not read today's form: where it runs after this one it finds no such name, and compares all again."""


def rule_of(index: Index, model: ModelSpec) -> Rule:
    """By what passages count as alike, as the settings say."""
    least = round(least_cosine(index.settings.similar_score, unrelated_in(index, model)) * SCALE)
    return Rule(count=index.settings.similar_count, least=least, model=model_key(model))


def similar_file(generation: Generation) -> str | None:
    """Hash of what is known of the generation's passages; None where nobody wrote it down."""
    similar = generation.details.get("similar", {})
    state: str | None = similar.get(_STATE, similar.get(_FORMER_STATE))
    return state


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarRows:
    """Payloads of `similar_to` edges, by how much each source's counts grow, and what is known afterwards."""

    payloads: tuple[str, ...]
    growth: Mapping[str, Mapping[str, Mapping[str, int]]]
    state: str
    counts: SimilarCounts

    @property
    def details(self) -> Record:
        """What the generation's details say of it; `state_of` reads the hash."""
        return {_STATE: self.state, **to_record(self.counts)}


@dataclass(kw_only=True)
class SimilarPlan:
    """Gathers what changes in the passages, batch by batch, then decides their edges.

    A run that changes one document may change edges of any other, so this comes after all of them. What is
    known of the base generation is read from where its run left it; where that is lost, all passages are
    compared with each other again, which gives the same.
    """

    run: IndexContext
    base: int
    _upserts: list[ChunkColumns] = field(default_factory=list)
    _deletes: list[str] = field(default_factory=list)
    _texts: list[tuple[Sequence[str], Sequence[str]]] = field(default_factory=list)

    def add(self, rows: RowChanges) -> None:
        """Take in the chunks that some documents gain and lose; their texts are being encoded meanwhile."""
        self._deletes += rows.chunk_deletes
        if not rows.chunks:
            return
        self._upserts.append(columns_of(rows.chunks))
        self._texts.append(([chunk.id for chunk in rows.chunks], [encoded_text_of(c) for c in rows.chunks]))

    def decide(self) -> SimilarRows:
        """Compare what is new with everything, and put the edges that change into the outbox."""
        known = self._known
        before = known.chunks if known else self._stored()
        compared = compare_chunks(
            known or nothing_similar(self._rule),
            replace_chunks(before, gone=self._deletes, new=self._upserts),
            rule=self._rule,
            vectors=self._vectors,
            coded=CodedVectors(codes=self._codes, look_up=self.run.index.chunks.at(self.base).text_vectors),
            screen=open_screen,
        )
        similarity = compared.similarity
        self._codes.keep(similarity.chunks.texts)
        changes = edge_changes(known, similarity) if known else self._against_the_graph(similarity)
        return SimilarRows(
            payloads=tuple(dump_payload(self.run.index.outbox, rows) for rows in _payloads(changes)),
            growth={source: {"edges": {KIND.value: number}} for source, number in changes.growth.items()},
            state=self.run.index.similar.put(dump_similarity(similarity)),
            counts=SimilarCounts(
                searched=compared.searched,
                searched_again=compared.searched_again,
                near_duplicates=similarity.near_duplicates,
            ),
        )

    @cached_property
    def _rule(self) -> Rule:
        return rule_of(self.run.index, self.run.model)

    @cached_property
    def _known(self) -> Similarity | None:
        """What the run that made the base generation knew; None where that is lost."""
        if self.base == 0:
            return nothing_similar(self._rule)
        generation = self.run.index.ledger.generations.get(self.base)
        state = similar_file(generation) if generation else None
        try:
            return load_similarity(self.run.index.similar.get(state)) if state else None
        except DamageFound:
            return None

    def _stored(self) -> ChunkColumns:
        """The passages of the base generation, read from the store."""
        chunks = self.run.index.chunks.at(self.base).scan()
        return joined(columns_of(part) for part in batched(chunks, CHUNKS_READ))

    def _vectors(self) -> Iterator[tuple[Sequence[str], Floats]]:
        """Vectors of what this run embedded or found again, once, then of everything that the store has.

        What was read of the first is new and kept, or stands in the store too.
        """
        while self._texts:
            ids, texts = self._texts.pop()
            encoded = self.run.encoding().vectors(set(texts))
            yield ids, np.stack([encoded[text] for text in texts])
        # Another model may differ in what these vectors do not depend on, as the vectors of tokens.
        if not changes_model(self.run) or (self._known and self._known.rule == self._rule):
            yield from self.run.index.chunks.at(self.base).text_vectors()

    @cached_property
    def _codes(self) -> CodeFile:
        name = sha256_hex(model_key(self.run.model))[:16]
        return CodeFile(self.run.index.codes / name, dim=self.run.model.dim)

    def _against_the_graph(self, similarity: Similarity) -> EdgeChanges:
        held = self.run.index.graph.at(self.base).scan_edges(kinds=[KIND])
        everything = np.arange(len(similarity.chunks.ids))
        return similar_changes(held_rows(held), similar_rows(similarity, everything))


def _payloads(changes: EdgeChanges) -> Iterator[RowChanges]:
    for deletes in batched(changes.deletes, EDGES_PER_PAYLOAD):
        yield RowChanges(edge_deletes=tuple(deletes))
    for edges in batched(changes.upserts, EDGES_PER_PAYLOAD):
        yield RowChanges(edges=tuple(edges))


def known_links(index: Index, number: int) -> LinkState:
    """The links of a generation as its run left them; where that is lost, read from the graph."""
    if number == 0:
        return no_links()
    generation = index.ledger.generations.get(number)
    named = links_file(generation) if generation else None
    try:
        return load_links(index.links.get(named)) if named else read_document_links(index, number)
    except DamageFound:
        return read_document_links(index, number)


def read_document_links(index: Index, number: int) -> LinkState:
    """The same from the graph."""
    graph, links = index.graph.at(number), DocumentLinks()
    live = index.ledger.generations.live(number)
    links.add(live, graph.nodes(live.keys()), graph.scan_edges(kinds=[EdgeKind.LINKS_TO]))
    return replace_links(no_links(), links)


@dataclass(kw_only=True)
class LinkStatePlan:
    """Gathers what documents link to, batch by batch; at the end keeps what is known of all."""

    run: IndexContext
    base: int
    _changed: DocumentLinks = field(default_factory=DocumentLinks)

    def add(self, links: DocumentLinks) -> None:
        """Take in what some documents are and link to."""
        self._changed.docs.update(links.docs)
        self._changed.kinds.update(links.kinds)
        self._changed.weights.update(links.weights)

    def decide(self) -> str:
        """Keep the links of the next generation; give their hash."""
        index = self.run.index
        return index.links.put(dump_links(replace_links(known_links(index, self.base), self._changed)))
