"""Chunks that were stored: what comes back is what went in, in a stated order."""

from dataclasses import replace

import numpy as np

from indexes.digests import chunk_sha256
from indexes.lattice_hash import LatticeHash
from indexes.ports import ChunkStore, ChunkVectors
from schemas.evidence import SearchField
from schemas.nodes import DocumentKind
from tests.fakes.chunk_generations import ids, publish, row
from tests.fakes.graph_samples import DIM, axis, full_chunk, make_chunk, make_vectors, unit


def test_a_chunk_with_every_field_comes_back_equal(chunk_store: ChunkStore) -> None:
    plain = make_chunk("nothing but the required fields", heading_path=(), url=None)
    publish(chunk_store, 1, [(full_chunk(), make_vectors()), (plain, make_vectors())])
    found = chunk_store.at(1).get([plain.id, full_chunk().id, "chunk:unknown"])
    assert found == tuple(sorted([plain, full_chunk()], key=lambda chunk: chunk.id))


def test_vectors_come_back_bit_by_bit(chunk_store: ChunkStore) -> None:
    stored = ChunkVectors(
        text=unit(0.3, 0.1),
        heading=unit(0.2, 0.7),
        anchors=np.stack([unit(1.0, 2.0), unit(3.0, 1.0, 5.0)]),
        captions=unit(9.0, 1.0).reshape(1, DIM),
    )
    bare = make_vectors(heading=np.zeros(0, dtype=np.float32))
    rows = [row("one", stored), row("two", bare), row("three")]
    publish(chunk_store, 1, rows)
    found = chunk_store.at(1).vectors([*ids(rows), "chunk:unknown"])
    assert sorted(found) == ids(rows)
    for chunk, vectors in rows:
        for name in ("text", "heading", "anchors", "captions"):
            want, got = getattr(vectors, name), getattr(found[chunk.id], name)
            assert (got.dtype, got.shape) == (np.float32, want.shape)
            assert got.tobytes() == want.tobytes()


def test_text_vectors_are_those_of_every_chunk_once(chunk_store: ChunkStore) -> None:
    rows = [row(f"text {n}", make_vectors(unit(float(n), 1.0))) for n in range(50)]
    publish(chunk_store, 1, rows)
    publish(chunk_store, 2, [row("text 1", make_vectors(unit(5.0, 2.0)))], gone=[rows[7][0].id])
    want = {chunk.id: vectors.text.tolist() for chunk, vectors in rows}
    read = [dict(zip(ids, found, strict=True)) for ids, found in chunk_store.at(2).text_vectors()]
    found = {id_: vector for part in read for id_, vector in part.items()}
    assert sum(map(len, read)) == len(found) == 49
    assert {id_ for id_, vector in found.items() if vector.tolist() != want[id_]} == {rows[1][0].id}
    assert (found[rows[1][0].id].dtype, found[rows[1][0].id].shape) == (np.float32, (DIM,))
    assert list(chunk_store.at(0).text_vectors()) == []


def test_text_vectors_of_some_chunks_are_those_alone(chunk_store: ChunkStore) -> None:
    rows = [row(f"text {n}", make_vectors(unit(float(n), 1.0))) for n in range(50)]
    publish(chunk_store, 1, rows)
    wanted = {chunk.id: vectors.text.tolist() for chunk, vectors in rows[10:20]}
    reader = chunk_store.at(1)
    read = [dict(zip(ids, found, strict=True)) for ids, found in reader.text_vectors((*wanted, "chunk:no"))]
    assert {id_: vector.tolist() for part in read for id_, vector in part.items()} == wanted
    assert list(reader.text_vectors(())) == []


def test_texts_are_those_of_every_chunk_once_with_their_documents(chunk_store: ChunkStore) -> None:
    rows = [row(f"text {n}", doc=f"doc {n % 3}") for n in range(50)]
    publish(chunk_store, 1, rows)
    publish(chunk_store, 2, [row("another", doc="doc 7")], gone=[rows[7][0].id])
    read = [pair for docs, texts in chunk_store.at(2).texts() for pair in zip(docs, texts, strict=True)]
    kept = [*rows[:7], *rows[8:]]
    assert sorted(read) == sorted([("doc 7", "another"), *((chunk.doc, chunk.text) for chunk, _ in kept)])
    assert list(chunk_store.at(0).texts()) == []


def test_quotes_and_unicode_in_ids_find_exactly_their_rows(chunk_store: ChunkStore) -> None:
    odd = ["o'neill", 'say "x"', "a`b", "日本:λ", "x' OR '1'='1", "back\\slash", "%_"]
    rows = [row(name, id=name, doc=f"doc {name}") for name in odd]
    publish(chunk_store, 1, rows)
    reader = chunk_store.at(1)
    for name in odd:
        assert [chunk.id for chunk in reader.get([name])] == [name]
        assert [chunk.id for chunk in reader.of_documents([f"doc {name}"])] == [name]
    publish(chunk_store, 2, gone=["o'neill", "x' OR '1'='1"])
    assert sorted(set(odd) - set(chunk_store.at(2).row_hashes())) == ["o'neill", "x' OR '1'='1"]


def test_chunks_of_documents_come_by_document_then_place(chunk_store: ChunkStore) -> None:
    rows = [row(f"{doc}{n}", uri=f"https://site.test/{doc}", ordinal=n) for doc in "abc" for n in (10, 9, 0)]
    publish(chunk_store, 1, rows)
    docs = {chunk.doc for chunk, _ in rows if "/c" not in str(chunk.url)}
    want = sorted((c for c, _ in rows if c.doc in docs), key=lambda c: (c.doc, c.ordinal, c.id))
    assert chunk_store.at(1).of_documents([*docs, "page:unknown"]) == tuple(want)


def test_a_scan_gives_every_chunk_in_id_order_without_a_limit(chunk_store: ChunkStore) -> None:
    rows = [row(f"text {n}", source="even" if n % 2 == 0 else "odd") for n in range(60)]
    publish(chunk_store, 1, rows)
    reader = chunk_store.at(1)
    assert [chunk.id for chunk in reader.scan()] == ids(rows)
    assert [chunk.id for chunk in reader.scan(source="even")] == ids(rows[::2])
    assert list(reader.scan(source="no such source")) == []


def test_state_counts_kinds_and_digests_rows(chunk_store: ChunkStore) -> None:
    rows = [row("a"), row("b", kind=DocumentKind.MARKDOWN), (full_chunk(), make_vectors())]
    state = publish(chunk_store, 1, rows)
    hashes = {chunk.id: chunk_sha256(chunk, vectors) for chunk, vectors in rows}
    reader = chunk_store.at(1)
    assert state.counts == {"html": 1, "markdown": 1, "pdf": 1}
    assert (reader.row_hashes(), state.rows) == (hashes, LatticeHash().plus(hashes.items()))
    assert reader.state() == state
    assert reader.damaged_rows() == ()


def test_hashes_are_given_of_the_ids_that_are_asked_for_and_there(chunk_store: ChunkStore) -> None:
    one, two, gone = row("one"), row("two"), row("gone")
    publish(chunk_store, 1, [one, two, gone])
    publish(chunk_store, 2, gone=[gone[0].id])
    reader = chunk_store.at(2)
    assert reader.row_hashes([two[0].id, gone[0].id, "chunk:unknown"]) == {two[0].id: chunk_sha256(*two)}
    assert reader.row_hashes([]) == {}


def test_a_changed_vector_or_observed_time_changes_the_row_hash(chunk_store: ChunkStore) -> None:
    chunk, vectors = row("same")
    states = [
        publish(chunk_store, 1, [(chunk, vectors)]),
        publish(chunk_store, 2, [(chunk, make_vectors(axis(5)))]),
        publish(chunk_store, 3, [(replace(chunk, fetched_at="2026-03-01T00:00:00Z"), vectors)]),
    ]
    assert len({state.digest for state in states}) == 3


def test_the_empty_index_answers_everything_with_nothing(chunk_store: ChunkStore) -> None:
    reader = chunk_store.at(0)
    assert (reader.get(["x"]), reader.of_documents(["x"]), list(reader.scan())) == ((), (), [])
    for field in (SearchField.TEXT, SearchField.HEADING, SearchField.ANCHORS, SearchField.CODES):
        assert reader.search_text(field, "words", top_k=5) == ()
    for field in (SearchField.TEXT, SearchField.HEADING, SearchField.ANCHORS, SearchField.CAPTIONS):
        assert reader.search_vector(field, axis(0), top_k=5) == ()
    assert (reader.vectors(["x"]), reader.row_hashes(), reader.damaged_rows()) == ({}, {}, ())
    assert (dict(reader.state().counts), reader.state().rows) == ({}, LatticeHash())
