"""Second questions put to the chunk store."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from indexes.ports import ChunkReader, Encoder
from retrieval.graph.second_query import FoundDocument, ask_again
from retrieval.graph.spreading import Spread
from retrieval.search.parallel import run_in_parallel
from retrieval.search.relevance import WORD_FIELDS, Measure, Scale, add_words, best_chunks, best_scores
from retrieval.search.seeds import EmbeddedQuery
from schemas.evidence import SearchField
from schemas.nodes import Chunk

DEPTH = 50
READ_CHUNKS = 2
"""Chunks of an asking document whose sentences are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUp:
    """What a second question needs: the stores, the first question, and what it measured."""

    chunks: ChunkReader
    encoder: Encoder
    asked: EmbeddedQuery
    measure: Measure

    def activate(self, spread: Spread) -> tuple[Spread, tuple[str, ...]]:
        """Ask again from the activated documents; return what is activated then, and the questions."""
        return ask_again(self.asked.query.text, spread, search=self._search, read=self._read)

    def _search(self, text: str) -> tuple[FoundDocument, ...]:
        """Search texts by words and by meaning, both on the scale of their own best hit."""
        again = EmbeddedQuery(
            query=replace(self.asked.query, text=text),
            vector=self.encoder.encode_query(text),
            unrelated=self.asked.unrelated,
        )
        dense = partial(again.dense, self.chunks, SearchField.TEXT, top_k=DEPTH)
        by_words = [partial(again.bm25, self.chunks, field, top_k=DEPTH) for field in WORD_FIELDS]
        sense, *words = run_in_parallel([dense, *by_words])
        bm25, cosine = add_words(words), best_scores(sense)
        scale = Scale(
            bm25=max(bm25.values(), default=0.0),
            cosine=max(cosine.values(), default=0.0),
            unrelated=again.unrelated,
        )
        docs = {hit.chunk_id: hit.doc for hit in chain(sense, *words)}
        hits = {one: scale.base(bm25.get(one, 0.0), cosine.get(one, 0.0)) for one in docs}
        best: dict[str, FoundDocument] = {}
        for chunk in best_chunks(hits, limit=len(hits)):
            best.setdefault(docs[chunk], FoundDocument(doc=docs[chunk], chunk=chunk, hit=hits[chunk]))
        return tuple(best.values())

    def _read(self, docs: Collection[str]) -> Mapping[str, tuple[Chunk, ...]]:
        """Return each document's two best chunks for the first question, in reading order."""
        bases = self.measure.of(docs)
        wanted = {chunk for base in bases.values() for chunk in best_chunks(base, limit=READ_CHUNKS)}
        found: dict[str, list[Chunk]] = {}
        for chunk in sorted(self.chunks.get(sorted(wanted)), key=lambda chunk: (chunk.ordinal, chunk.id)):
            found.setdefault(chunk.doc, []).append(chunk)
        return {doc: tuple(found[doc]) for doc in sorted(found)}
