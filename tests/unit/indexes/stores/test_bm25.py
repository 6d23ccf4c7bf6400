"""BM25 in memory."""

from pathlib import Path

import pytest

from indexes.ports import ChunkStore
from indexes.stores.lance.store import LanceChunkStore
from schemas.evidence import SearchField
from tests.fakes.graph_samples import DIM, make_chunk, make_vectors
from tests.fakes.memory_stores import MemoryChunkStore, bm25, exact_terms, words


def test_prose_is_folded_and_cut_at_punctuation() -> None:
    assert words("Müller's max_wal-size, ÉTÉ 2026!") == ["muller", "s", "max", "wal", "size", "ete", "2026"]


def test_codes_are_cut_at_white_space_only() -> None:
    assert exact_terms("GOV-0017  max_wal_size") == ["gov-0017", "max_wal_size"]


def test_rare_terms_and_short_documents_count_more() -> None:
    documents = {"rare": ["zebra", "and"], "common": ["and", "and"], "long": ["zebra", *["filler"] * 9]}
    scores = bm25(["zebra", "and", "absent"], documents)
    assert sorted(scores, key=lambda key: -scores[key]) == ["rare", "common", "long"]


def test_no_documents_or_no_terms_give_no_scores() -> None:
    assert bm25(["a"], {}) == bm25([], {"x": ["a"]}) == bm25(["a"], {"x": []}) == {}


def test_scores_are_those_of_the_lance_index(tmp_path: Path) -> None:
    texts = ("alpha beta gamma", "alpha alpha delta", "epsilon beta", "one two three alpha five", "zeta")
    stores: list[ChunkStore] = [MemoryChunkStore(dim=DIM), LanceChunkStore.create(tmp_path, dim=DIM)]
    hits = []
    for store in stores:
        writer = store.writer()
        writer.stage(1, base=0)
        writer.apply([(make_chunk(text), make_vectors()) for text in texts], [])
        writer.finish(1)
        hits.append(store.at(1).search_text(SearchField.TEXT, "alpha beta", top_k=9))
    assert [hit.chunk_id for hit in hits[0]] == [hit.chunk_id for hit in hits[1]]
    assert [hit.score for hit in hits[0]] == pytest.approx([hit.score for hit in hits[1]], rel=0.02)
