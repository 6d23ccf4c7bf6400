"""Searching chunks by words and by vectors."""

from dataclasses import replace

import numpy as np
import pytest

from indexes.ports import ChunkStore, ChunkVectors, Vector
from schemas.errors import FilterError, SchemaMismatch
from schemas.evidence import SearchField
from tests.fakes.chunk_generations import ids, publish, row
from tests.fakes.graph_samples import DIM, axis, make_vectors, none, unit


def test_text_search_ranks_by_terms_and_orders_by_score(chunk_store: ChunkStore) -> None:
    rows = [row("backup"), row("backup schedule words more words"), row("nothing of the kind")]
    publish(chunk_store, 1, rows)
    hits = chunk_store.at(1).search_text(SearchField.TEXT, "Backup schedule?", top_k=5)
    assert [hit.chunk_id for hit in hits] == [rows[1][0].id, rows[0][0].id]
    assert hits[0].score > hits[1].score > 0
    assert hits[0].doc == rows[1][0].doc


def test_each_text_field_searches_its_own_words(chunk_store: ChunkStore) -> None:
    rows = [
        row("alpha", heading_path=("Guide", "Restore points")),
        row("beta", anchor_texts=("disaster recovery", "the runbook")),
        row("gamma", codes=("max_wal_size", "GOV-0017")),
    ]
    publish(chunk_store, 1, rows)
    reader = chunk_store.at(1)

    def found(field: SearchField, text: str) -> list[str]:
        return [hit.chunk_id for hit in reader.search_text(field, text, top_k=5)]

    assert found(SearchField.TEXT, "alpha") == [rows[0][0].id]
    assert found(SearchField.HEADING, "restore") == [rows[0][0].id]
    assert found(SearchField.ANCHORS, "recovery") == [rows[1][0].id]
    assert found(SearchField.TEXT, "restore recovery max_wal_size") == []
    assert found(SearchField.CODES, "GOV-0017") == [rows[2][0].id]


def test_codes_are_matched_whole(chunk_store: ChunkStore) -> None:
    long_path = "/var/lib/postgresql/data/base/archive_status/readiness"
    rows = [row("a", codes=("max_wal_size",)), row("b", codes=("wal", "size")), row("c", codes=(long_path,))]
    publish(chunk_store, 1, rows)
    reader = chunk_store.at(1)
    for code, want in (("max_wal_size", rows[0]), ("MAX_WAL_SIZE", rows[0]), (long_path, rows[2])):
        assert [hit.chunk_id for hit in reader.search_text(SearchField.CODES, code, top_k=5)] == [want[0].id]
    assert reader.search_text(SearchField.CODES, "max wal_size", top_k=5) == ()


ASKED = (
    '"backup schedule"',
    "'backup'",
    "backup AND -schedule",
    "+backup (schedule",
    "text:backup^9",
    "backup*~2 \\",
    "backup; DROP TABLE chunks --",
    '"backup',
)


def test_quotes_and_operators_in_a_query_are_only_words(chunk_store: ChunkStore) -> None:
    rows = [row("how the backup runs"), row("unrelated")]
    publish(chunk_store, 1, rows)
    for text in ASKED:
        hits = chunk_store.at(1).search_text(SearchField.TEXT, text, top_k=5)
        assert [hit.chunk_id for hit in hits] == [rows[0][0].id], text
    for text in ("", "   ", '""', "?!", "\x00"):
        assert chunk_store.at(1).search_text(SearchField.TEXT, text, top_k=5) == (), text


def test_ties_at_the_cut_are_resolved_by_id(chunk_store: ChunkStore) -> None:
    rows = [row("same words here", id=f"chunk:{(n * 37) % 101:03d}") for n in range(101)]
    publish(chunk_store, 1, [*rows, row("same same same words here", make_vectors(axis(2)))])
    reader = chunk_store.at(1)
    for top_k in (1, 2, 7, 50):
        by_text = reader.search_text(SearchField.TEXT, "same", top_k=top_k)
        assert [hit.chunk_id for hit in by_text][1:] == ids(rows)[: top_k - 1]
        by_vector = reader.search_vector(SearchField.TEXT, axis(0), top_k=top_k)
        assert [hit.chunk_id for hit in by_vector] == ids(rows)[:top_k]


def test_more_than_the_stores_default_limit_is_found(chunk_store: ChunkStore) -> None:
    publish(chunk_store, 1, [row(f"common word{n}") for n in range(40)])
    reader = chunk_store.at(1)
    assert len(reader.search_text(SearchField.TEXT, "common", top_k=100)) == 40
    assert len(reader.search_vector(SearchField.TEXT, axis(0), top_k=100)) == 40
    assert len(reader.search_vector(SearchField.TEXT, axis(0), top_k=33)) == 33
    assert reader.search_text(SearchField.TEXT, "common", top_k=0) == ()


def test_a_changed_text_is_found_by_its_new_words_only(chunk_store: ChunkStore) -> None:
    item = row("retention of thirty days", id="chunk:1")
    publish(chunk_store, 1, [item, *(row(f"filler {n}") for n in range(30))])
    publish(chunk_store, 2, [(replace(item[0], text="retention of sixty days"), item[1])])
    reader = chunk_store.at(2)
    assert reader.search_text(SearchField.TEXT, "thirty", top_k=5) == ()
    assert [hit.chunk_id for hit in reader.search_text(SearchField.TEXT, "sixty", top_k=5)] == ["chunk:1"]


def test_vector_search_gives_cosines_in_order(chunk_store: ChunkStore) -> None:
    rows = [row("far", make_vectors(axis(1))), row("near", make_vectors(unit(0.8, 0.6))), row("opposite")]
    rows[2] = (rows[2][0], make_vectors(-axis(0)))
    publish(chunk_store, 1, rows)
    query = axis(0) * np.float32(3)  # only its direction counts
    hits = chunk_store.at(1).search_vector(SearchField.TEXT, query, top_k=5)
    assert [hit.chunk_id for hit in hits] == [rows[1][0].id, rows[0][0].id, rows[2][0].id]
    assert [hit.score for hit in hits] == pytest.approx([0.8, 0.0, -1.0], abs=1e-5)


def test_the_best_of_several_vectors_counts(chunk_store: ChunkStore) -> None:
    def several(*vectors: Vector) -> ChunkVectors:
        stacked = np.stack(vectors) if vectors else none()
        return make_vectors(anchors=stacked, captions=stacked)

    rows = [
        row("one good among bad", several(axis(1), unit(1.0, 0.2), axis(2))),
        row("two middling", several(unit(1.0, 1.0), unit(1.0, 1.0))),
        row("none", several()),
    ]
    publish(chunk_store, 1, rows)
    for field in (SearchField.ANCHORS, SearchField.CAPTIONS):
        hits = chunk_store.at(1).search_vector(field, axis(0), top_k=5)
        assert [hit.chunk_id for hit in hits] == [rows[0][0].id, rows[1][0].id]
        assert hits[1].score == pytest.approx(0.70711, abs=1e-5)


def test_a_chunk_without_a_heading_vector_is_not_found_by_it(chunk_store: ChunkStore) -> None:
    rows = [row("with"), row("without", make_vectors(heading=np.zeros(0, dtype=np.float32)))]
    publish(chunk_store, 1, rows)
    reader = chunk_store.at(1)
    assert len(reader.search_vector(SearchField.TEXT, axis(1), top_k=5)) == 2
    assert [hit.chunk_id for hit in reader.search_vector(SearchField.HEADING, axis(1), top_k=5)] == [
        rows[0][0].id
    ]


def test_fields_that_cannot_be_searched_that_way_are_refused(chunk_store: ChunkStore) -> None:
    reader = chunk_store.at(0)
    with pytest.raises(FilterError):
        reader.search_vector(SearchField.CODES, axis(0), top_k=1)
    with pytest.raises(FilterError):
        reader.search_text(SearchField.CAPTIONS, "x", top_k=1)
    with pytest.raises(SchemaMismatch):
        reader.search_vector(SearchField.TEXT, axis(0, dim=DIM + 1), top_k=1)


def test_documents_are_found_by_a_phrase_of_their_text_exactly_as_written(chunk_store: ChunkStore) -> None:
    odd = 'It\'s 100 % "a_b" \\ λ Köln'
    rows = [
        row("the Write-Ahead Log of a server", uri="https://site.test/wal"),
        row("another passage with the Write-Ahead Log", uri="https://site.test/wal", ordinal=1),
        row("a write-ahead log", uri="https://site.test/lower"),
        row(odd, uri="https://site.test/odd"),
    ]
    publish(chunk_store, 1, rows)
    reader = chunk_store.at(1)
    wal, lower, other = (rows[n][0].doc for n in (0, 2, 3))
    assert reader.documents_containing(["Write-Ahead Log"]) == (wal,)
    assert reader.documents_containing(["write-ahead", "Ahead Log", "unknown"]) == tuple(sorted([wal, lower]))
    assert reader.documents_containing(["100 %", "a_b"]) == (other,)
    assert reader.documents_containing([odd, "It's", "\\ λ"]) == (other,)
    assert reader.documents_containing(["a%b", "aXb", "x' OR '1'='1"]) == ()
    assert reader.documents_containing([]) == ()
    assert reader.documents_containing([f"none {n}" for n in range(150)] + ["Köln"]) == (other,)
    assert chunk_store.at(0).documents_containing(["Write-Ahead Log"]) == ()
