"""Step 6, over all documents at once: which passages are alike, whichever documents they stand in."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TypeVar

import numpy as np

from flows.run.contexts import DeriveContext
from flows.run.index import unrelated_in
from flows.run.vector_space import changes_model
from indexes.embed.codes import CodeFile
from indexes.embed.screen import open_screen
from indexes.embed.unrelated import least_cosine
from indexes.embed.weights import model_key
from indexes.stores.ledger.generations import Generation
from indexes.write.outbox import dump_payload
from ingest.link.chunk_columns import ChunkColumns, columns_of, encoded_text_of, joined, replace_chunks
from ingest.link.nearby import CodedVectors
from ingest.link.nearest import SCALE, Floats
from ingest.link.similar_columns import dump_similarity, load_similarity
from ingest.link.similar_to import EdgeChanges, edge_changes, held_rows, row_changes, rows_of
from ingest.link.similarity import Rule, Similarity, compare_chunks, nothing_similar
from schemas.changes import RowChanges
from schemas.edges import EdgeKind
from schemas.errors import DamageFound
from schemas.hashing import sha256_hex
from schemas.records import Record, to_record
from schemas.report import SimilarCounts

KIND = EdgeKind.SIMILAR_TO
EDGES_PER_PAYLOAD = 20_000
CHUNKS_READ = 5_000

_STATE, _FORMER_STATE = "neighbours", "state"
"""How a generation's details name the hash, and how they did for a file of another form. An earlier version
does not read today's form: where it runs after this one it finds no such name, and compares all again."""

T = TypeVar("T")


def state_of(generation: Generation) -> str | None:
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

    run: DeriveContext
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
        settings = self.run.index.settings
        unrelated = unrelated_in(self.run.index, self.run.model)
        least = round(least_cosine(settings.similar_score, unrelated) * SCALE)
        return Rule(count=settings.similar_count, least=least, model=model_key(self.run.model))

    @cached_property
    def _known(self) -> Similarity | None:
        """What the run that made the base generation knew; None where that is lost."""
        if self.base == 0:
            return nothing_similar(self._rule)
        generation = self.run.index.ledger.generations.get(self.base)
        state = state_of(generation) if generation else None
        try:
            return load_similarity(self.run.index.similar.get(state)) if state else None
        except DamageFound:
            return None

    def _stored(self) -> ChunkColumns:
        """The passages of the base generation, read from the store."""
        chunks = self.run.index.chunks.at(self.base).scan()
        return joined(columns_of(part) for part in _parts(chunks, CHUNKS_READ))

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
        return row_changes(held_rows(held), rows_of(similarity, everything))


def _payloads(changes: EdgeChanges) -> Iterator[RowChanges]:
    for deletes in _parts(changes.deletes, EDGES_PER_PAYLOAD):
        yield RowChanges(edge_deletes=tuple(deletes))
    for edges in _parts(changes.upserts, EDGES_PER_PAYLOAD):
        yield RowChanges(edges=tuple(edges))


def _parts(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    left = iter(rows)
    while part := list(islice(left, size)):
        yield part
