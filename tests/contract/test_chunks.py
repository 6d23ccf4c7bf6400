"""What every chunk store promises; the promises stand in indexes/ports.py."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from indexes.digests import chunk_sha256, digest
from indexes.ports import ChunkStore, ChunkVectors, StoreState, Vector
from schemas.errors import ConfigError, FilterError, SchemaMismatch, StaleLease, StoreUnavailable
from schemas.evidence import FILTER_FIELDS, Filter, SearchField
from schemas.nodes import Chunk, DocumentKind
from tests.fakes.graph_samples import DIM, axis, full_chunk, make_chunk, make_vectors, none, unit

Row = tuple[Chunk, ChunkVectors]


def row(text: str, vectors: ChunkVectors | None = None, **fields: Any) -> Row:
    return make_chunk(text, **fields), vectors or make_vectors()


def publish(
    store: ChunkStore,
    generation: int,
    rows: Collection[Row] = (),
    gone: Collection[str] = (),
    *,
    base: int = -1,
) -> StoreState:
    """Stage, apply and finish on top of *base*, the generation before unless given."""
    writer = store.writer()
    writer.stage(generation, base=generation - 1 if base < 0 else base)
    writer.apply(iter(rows), gone)
    return writer.finish(generation)


def ids(rows: Collection[Row]) -> list[str]:
    return sorted(chunk.id for chunk, _ in rows)


# --- what comes back is what went in


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
    assert (reader.row_hashes(), state.digest) == (hashes, digest(hashes))
    assert reader.state() == state
    assert reader.damaged_rows() == ()


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
    assert (dict(reader.state().counts), reader.state().digest) == ({}, digest({}))


# --- writing


def test_delete_and_upsert_go_in_one_apply(chunk_store: ChunkStore) -> None:
    old = [row("stays"), row("goes"), row("changes")]
    publish(chunk_store, 1, old)
    changed = (replace(old[2][0], status="retired"), old[2][1])
    publish(chunk_store, 2, [changed, row("comes")], [old[1][0].id, "chunk:never-there"])
    found = {chunk.text: chunk.status for chunk in chunk_store.at(2).scan()}
    assert found == {"stays": None, "changes": "retired", "comes": None}


def test_an_id_both_upserted_and_deleted_stays(chunk_store: ChunkStore) -> None:
    item = row("moved")
    publish(chunk_store, 1, [item])
    publish(chunk_store, 2, [item, row("other")], [item[0].id])
    assert item[0].id in chunk_store.at(2).row_hashes()


def test_deletes_without_upserts_are_applied(chunk_store: ChunkStore) -> None:
    rows = [row("a"), row("b")]
    publish(chunk_store, 1, rows)
    assert publish(chunk_store, 2, gone=[rows[0][0].id]).counts == {"html": 1}


def test_an_empty_apply_changes_nothing(chunk_store: ChunkStore) -> None:
    first = publish(chunk_store, 1, [row("a")])
    assert publish(chunk_store, 2) == first


def test_equal_rows_in_one_apply_do_not_double(chunk_store: ChunkStore) -> None:
    new, known = row("new"), row("known")
    publish(chunk_store, 1, [known])
    state = publish(chunk_store, 2, [new, known, new, known, new])
    assert state.counts == {"html": 2}
    assert [chunk.text for chunk in chunk_store.at(2).get([new[0].id])] == ["new"]


def test_different_rows_of_one_id_are_refused(chunk_store: ChunkStore) -> None:
    item = row("a")
    writer = chunk_store.writer()
    writer.stage(1, base=0)
    with pytest.raises(SchemaMismatch, match="two different rows"):
        writer.apply([item, (replace(item[0], status="other"), item[1])], [])


def test_several_applies_add_up(chunk_store: ChunkStore) -> None:
    writer = chunk_store.writer()
    writer.stage(1, base=0)
    for number in range(3):
        writer.apply([row(f"part {number}")], [])
    assert writer.finish(1).counts == {"html": 3}


def test_applying_and_finishing_again_gives_the_same_state(chunk_store: ChunkStore) -> None:
    rows = [row("a"), row("b")]
    writer = chunk_store.writer()
    writer.stage(1, base=0)
    writer.apply(rows, ["chunk:x"])
    once = writer.finish(1)
    writer.apply(rows, ["chunk:x"])
    again = writer.finish(1)
    assert (again.digest, again.counts) == (once.digest, once.counts)
    assert chunk_store.at(1).state() == again


@pytest.mark.parametrize(
    "vectors",
    [
        make_vectors(np.full(DIM, np.nan, dtype=np.float32)),
        make_vectors(np.full(DIM, np.inf, dtype=np.float32)),
        make_vectors(axis(0) * np.float32(1.5)),
        make_vectors(np.zeros(DIM, dtype=np.float32)),
        make_vectors(axis(0, dim=DIM + 1)),
        make_vectors(np.zeros(0, dtype=np.float32)),
        make_vectors(heading=axis(0, dim=DIM - 1)),
        make_vectors(anchors=np.stack([axis(0), axis(1) * np.float32(2)])),
        make_vectors(anchors=axis(0)),
        make_vectors(captions=axis(0, dim=4).reshape(1, 4)),
    ],
)
def test_an_unsound_vector_is_refused_and_nothing_is_written(
    chunk_store: ChunkStore, vectors: ChunkVectors
) -> None:
    before = publish(chunk_store, 1, [row("a")])
    writer = chunk_store.writer()
    writer.stage(2, base=1)
    with pytest.raises(SchemaMismatch):
        writer.apply([row("fine"), row("bad", vectors)], [])
    assert writer.finish(2).digest == before.digest


def test_a_row_with_a_number_that_is_none_is_refused(chunk_store: ChunkStore) -> None:
    writer = chunk_store.writer()
    writer.stage(1, base=0)
    with pytest.raises(SchemaMismatch, match="cannot be stored"):
        writer.apply([row("bad", ocr_conf=float("nan"))], [])


def test_an_error_among_the_upserts_comes_out_and_writes_nothing(chunk_store: ChunkStore) -> None:
    def broken() -> Iterator[Row]:
        for number in range(1500):
            yield row(f"text {number}")
        raise ConfigError("told to stop", subject="test")

    writer = chunk_store.writer()
    writer.stage(1, base=0)
    with pytest.raises(ConfigError, match="told to stop"):
        writer.apply(broken(), [])
    assert writer.finish(1).counts == {}


def test_writing_before_staging_is_refused(chunk_store: ChunkStore) -> None:
    with pytest.raises(ConfigError, match="stage"):
        chunk_store.writer().apply([row("a")], [])


def test_a_second_writer_makes_the_first_one_stale(chunk_store: ChunkStore) -> None:
    publish(chunk_store, 1, [row("a")])
    first, second = chunk_store.writer(), chunk_store.writer()
    first.stage(2, base=1)
    first.apply([row("b")], [])
    second.stage(2, base=1)
    second.apply([row("c")], [])
    with pytest.raises(StaleLease):
        first.apply([row("d")], [])
    with pytest.raises(StaleLease):
        first.finish(2)
    second.finish(2)
    assert sorted(chunk.text for chunk in chunk_store.at(2).scan()) == ["a", "c"]


# --- generations


def test_two_generations_are_read_side_by_side(chunk_store: ChunkStore) -> None:
    item = row("old words")
    publish(chunk_store, 1, [item])
    old = chunk_store.at(1)
    publish(chunk_store, 2, [(replace(item[0], text="new words"), make_vectors(axis(4)))])
    new = chunk_store.at(2)
    assert [old.get([item[0].id])[0].text, new.get([item[0].id])[0].text] == ["old words", "new words"]
    assert [len(reader.search_text(SearchField.TEXT, "old", top_k=5)) for reader in (old, new)] == [1, 0]
    assert [reader.search_vector(SearchField.TEXT, axis(4), top_k=1)[0].score for reader in (old, new)] == [
        0,
        1,
    ]
    assert list(chunk_store.at(0).scan()) == []


def test_what_is_staged_is_not_seen_before_it_is_finished(chunk_store: ChunkStore) -> None:
    publish(chunk_store, 1, [row("a")])
    writer = chunk_store.writer()
    writer.stage(2, base=1)
    writer.apply([row("b")], [])
    assert len(list(chunk_store.at(1).scan())) == 1
    with pytest.raises(StoreUnavailable):
        chunk_store.at(2)


def test_abort_leaves_no_trace(chunk_store: ChunkStore) -> None:
    before = publish(chunk_store, 1, [row("a")])
    writer = chunk_store.writer()
    writer.stage(2, base=1)
    writer.apply([row("b")], [row("a")[0].id])
    writer.finish(2)
    writer.abort(2, base=1)
    writer.abort(2, base=1)
    with pytest.raises(StoreUnavailable):
        chunk_store.at(2)
    assert chunk_store.at(1).state() == before
    assert publish(chunk_store, 3, base=1).digest == before.digest


def test_staging_after_an_abandoned_apply_starts_from_the_base(chunk_store: ChunkStore) -> None:
    publish(chunk_store, 1, [row("a")])
    abandoned = chunk_store.writer()
    abandoned.stage(2, base=1)
    abandoned.apply([row("half done")], [row("a")[0].id])
    publish(chunk_store, 2, [row("b")])
    assert sorted(chunk.text for chunk in chunk_store.at(2).scan()) == ["a", "b"]


def test_replaying_a_finished_generation_gives_the_same_rows(chunk_store: ChunkStore) -> None:
    publish(chunk_store, 1, [row("a"), row("b")])
    first = publish(chunk_store, 2, [row("c")], [row("a")[0].id])
    again = publish(chunk_store, 2, [row("c")], [row("a")[0].id])
    assert (again.digest, again.counts) == (first.digest, first.counts)
    assert chunk_store.at(2).state() == again


def test_after_a_rollback_the_next_generation_builds_on_the_older_one(chunk_store: ChunkStore) -> None:
    publish(chunk_store, 1, [row("a")])
    publish(chunk_store, 2, [row("bad")], [row("a")[0].id])
    publish(chunk_store, 3, [row("good")], base=1)
    texts = {n: sorted(chunk.text for chunk in chunk_store.at(n).scan()) for n in (1, 2, 3)}
    assert texts == {1: ["a"], 2: ["bad"], 3: ["a", "good"]}
    assert chunk_store.at(3).search_text(SearchField.TEXT, "bad", top_k=3) == ()


def test_staging_on_a_generation_that_is_not_there_is_refused(chunk_store: ChunkStore) -> None:
    with pytest.raises(StoreUnavailable):
        chunk_store.writer().stage(9, base=8)


def test_prune_keeps_what_is_kept_readable_and_nothing_else(chunk_store: ChunkStore) -> None:
    states = {n: publish(chunk_store, n, [row(f"text {n}")]) for n in range(1, 6)}
    writer = chunk_store.writer()
    writer.prune(keep=[4, 5])
    writer.prune(keep=[4, 5])
    for generation in (1, 2, 3):
        with pytest.raises(StoreUnavailable):
            chunk_store.at(generation)
    for generation in (4, 5):
        reader = chunk_store.at(generation)
        assert reader.state() == states[generation]
        assert len(reader.search_text(SearchField.TEXT, "text", top_k=9)) == generation
        assert reader.damaged_rows() == ()
    assert publish(chunk_store, 6, [row("more")]).counts == {"html": 6}


# --- searching


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


@pytest.mark.parametrize(
    "text",
    [
        '"backup schedule"',
        "'backup'",
        "backup AND -schedule",
        "+backup (schedule",
        "text:backup^9",
        "backup*~2 \\",
        "backup; DROP TABLE chunks --",
        '"backup',
    ],
)
def test_quotes_and_operators_in_a_query_are_only_words(chunk_store: ChunkStore, text: str) -> None:
    rows = [row("how the backup runs"), row("unrelated")]
    publish(chunk_store, 1, rows)
    hits = chunk_store.at(1).search_text(SearchField.TEXT, text, top_k=5)
    assert [hit.chunk_id for hit in hits] == [rows[0][0].id]


@pytest.mark.parametrize("text", ["", "   ", '""', "?!", "\x00"])
def test_a_query_without_words_finds_nothing(chunk_store: ChunkStore, text: str) -> None:
    publish(chunk_store, 1, [row("words")])
    assert chunk_store.at(1).search_text(SearchField.TEXT, text, top_k=5) == ()


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


@pytest.mark.parametrize("field", [SearchField.ANCHORS, SearchField.CAPTIONS])
def test_the_best_of_several_vectors_counts(chunk_store: ChunkStore, field: SearchField) -> None:
    def several(*vectors: Vector) -> ChunkVectors:
        return make_vectors(**{field.value: np.stack(vectors) if vectors else none()})

    rows = [
        row("one good among bad", several(axis(1), unit(1.0, 0.2), axis(2))),
        row("two middling", several(unit(1.0, 1.0), unit(1.0, 1.0))),
        row("none", several()),
    ]
    publish(chunk_store, 1, rows)
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


# --- filters


@pytest.mark.parametrize("field", FILTER_FIELDS)
def test_every_filter_field_keeps_its_chunks(chunk_store: ChunkStore, field: str) -> None:
    chunk = full_chunk()
    publish(chunk_store, 1, [(chunk, make_vectors()), row("it's test 100 plain")])
    stored = getattr(chunk, field)
    value = str(stored[-1] if field == "tool_names" else stored)
    wanted = [Filter(field=field, values=("99999", value))]
    reader = chunk_store.at(1)
    for hits in (
        reader.search_vector(SearchField.TEXT, axis(0), top_k=5, filters=wanted),
        reader.search_text(SearchField.TEXT, "test", top_k=5, filters=wanted),
    ):
        assert [hit.chunk_id for hit in hits] == [chunk.id]
    assert (
        reader.search_text(
            SearchField.TEXT, "test", top_k=5, filters=[Filter(field=field, values=("99999",))]
        )
        == ()
    )


def test_all_filters_must_hold_and_any_value_of_one(chunk_store: ChunkStore) -> None:
    rows = [
        row("a", doc_type="guide", status="current"),
        row("b", doc_type="rule", status="current"),
        row("c", doc_type="rule", status="retired"),
    ]
    publish(chunk_store, 1, rows)
    both = [Filter(field="doc_type", values=("guide", "rule")), Filter(field="status", values=("current",))]
    hits = chunk_store.at(1).search_vector(SearchField.TEXT, axis(0), top_k=5, filters=both)
    assert sorted(hit.chunk_id for hit in hits) == ids(rows[:2])


def test_a_filter_is_applied_before_the_cut(chunk_store: ChunkStore) -> None:
    rows = [row(f"common text {n}", lang="en") for n in range(60)] + [row("common", lang="de")]
    rows[-1] = (rows[-1][0], make_vectors(unit(1.0, 1.0)))
    publish(chunk_store, 1, rows)
    reader, german = chunk_store.at(1), [Filter(field="lang", values=("de",))]
    for hits in (
        reader.search_vector(SearchField.TEXT, axis(0), top_k=1, filters=german),
        reader.search_text(SearchField.TEXT, "common", top_k=1, filters=german),
    ):
        assert [hit.chunk_id for hit in hits] == [rows[-1][0].id]


@pytest.mark.parametrize("value", ["x' OR '1'='1", 'a"b', "100 %", "日本", "", "';--", "a\\"])
def test_filter_values_are_data(chunk_store: ChunkStore, value: str) -> None:
    rows = [row("plain", domain="d", tool_names=("t",)), row("odd", domain=value, tool_names=("t", value))]
    publish(chunk_store, 1, rows)
    for field in ("domain", "tool_names"):
        wanted = [Filter(field=field, values=(value,))]
        hits = chunk_store.at(1).search_vector(SearchField.TEXT, axis(0), top_k=5, filters=wanted)
        assert [hit.chunk_id for hit in hits] == [rows[1][0].id]


@pytest.mark.parametrize("field", ["text", "row_sha256", "no such", "doc_type = 'x' OR 1", ""])
def test_an_unknown_filter_field_is_refused(chunk_store: ChunkStore, field: str) -> None:
    reader, wanted = chunk_store.at(0), [Filter(field=field, values=("x",))]
    with pytest.raises(FilterError, match="known: kind, source"):
        reader.search_text(SearchField.TEXT, "x", top_k=1, filters=wanted)
    with pytest.raises(FilterError):
        reader.search_vector(SearchField.TEXT, axis(0), top_k=1, filters=wanted)


def test_a_page_number_that_is_none_is_refused(chunk_store: ChunkStore) -> None:
    with pytest.raises(FilterError, match="whole number"):
        chunk_store.at(0).search_text(
            SearchField.TEXT, "x", top_k=1, filters=[Filter(field="page_no", values=("two",))]
        )


def test_a_filter_without_values_keeps_nothing(chunk_store: ChunkStore) -> None:
    publish(chunk_store, 1, [row("a", tool_names=("t",))])
    for field in ("doc_type", "tool_names", "page_no"):
        hits = chunk_store.at(1).search_vector(
            SearchField.TEXT, axis(0), top_k=5, filters=[Filter(field=field, values=())]
        )
        assert hits == ()
