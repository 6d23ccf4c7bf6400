"""What only the LanceDB stores promise: files, versions, processes."""

import multiprocessing
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import lancedb
import pytest

from indexes.ports import StoreState
from indexes.stores.lance import chunks, staging, table_upkeep
from indexes.stores.lance.chunks import LanceChunkReader
from indexes.stores.lance.store import LanceChunkStore, LanceGraphStore
from indexes.stores.lance.tables import CHUNKS
from schemas.errors import DamageFound, SchemaMismatch, StaleLease, StoreUnavailable
from schemas.evidence import Filter, SearchField
from tests.fakes.graph_samples import DIM, axis, full_chunk, make_chunk, make_graph, make_vectors
from tests.fakes.store_processes import answer_from, apply_without_end


def publish(store: LanceChunkStore, generation: int, *texts: str, base: int = -1) -> StoreState:
    writer = store.writer()
    writer.stage(generation, base=generation - 1 if base < 0 else base)
    writer.apply([(make_chunk(text), make_vectors()) for text in texts], [])
    return writer.finish(generation)


@contextmanager
def running(target: Any, *arguments: Any) -> Iterator[tuple[Any, Connection]]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=target, args=(*arguments, theirs))
    process.start()
    try:
        yield process, ours
    finally:
        process.kill()
        process.join()


@pytest.fixture
def store(tmp_path: Path) -> LanceChunkStore:
    return LanceChunkStore.create(tmp_path / "index", dim=DIM)


def test_a_directory_without_tables_is_damage_that_a_run_mends(tmp_path: Path) -> None:
    for directory in (tmp_path, tmp_path / "absent"):
        with pytest.raises(DamageFound, match="has no table chunks; repair it with: sitegraph repair"):
            LanceChunkStore(directory, dim=DIM).at(1)
        with pytest.raises(DamageFound, match="has no table nodes, edges"):
            LanceGraphStore(directory).writer()
    assert not (tmp_path / "absent").exists()


def test_generation_0_is_empty_where_its_version_was_pruned_or_its_table_is_lost(
    tmp_path: Path, store: LanceChunkStore
) -> None:
    publish(store, 1, "a")
    store.writer().prune(keep=[1])
    lost = LanceChunkStore(tmp_path / "absent", dim=DIM)
    graph = LanceGraphStore(tmp_path / "absent").at(0)

    assert [list(one.at(0).scan()) for one in (store, lost)] == [[], []]
    assert list(graph.scan_nodes()) == []


def test_creating_again_keeps_what_is_there(tmp_path: Path, store: LanceChunkStore) -> None:
    state = publish(store, 1, "a")
    again = LanceChunkStore.create(tmp_path / "index", dim=DIM)
    assert again.at(1).state() == state


def test_a_table_whose_making_was_broken_off_is_made_again(tmp_path: Path) -> None:
    whole = LanceChunkStore.create(tmp_path / "whole", dim=DIM)
    schema = lancedb.connect(tmp_path / "whole").open_table(CHUNKS).schema
    lancedb.connect(tmp_path / "half").create_table(CHUNKS, schema=schema)
    half = LanceChunkStore.create(tmp_path / "half", dim=DIM)
    assert publish(half, 1, "a").digest == publish(whole, 1, "a").digest


def test_another_dimension_is_a_schema_mismatch(tmp_path: Path, store: LanceChunkStore) -> None:
    with pytest.raises(SchemaMismatch, match="text_vector"):
        LanceChunkStore(tmp_path / "index", dim=DIM + 1).at(0)
    with pytest.raises(SchemaMismatch, match="text_vector"):
        LanceChunkStore(tmp_path / "index", dim=DIM + 1).writer()


def test_chunks_and_graph_share_a_directory(tmp_path: Path, store: LanceChunkStore) -> None:
    graph, samples = LanceGraphStore.create(tmp_path / "index"), make_graph()
    writer = graph.writer()
    writer.stage(1, base=0)
    writer.apply_nodes(samples.nodes, [])
    writer.finish(1)
    publish(store, 1, "a")
    assert len(list(LanceChunkStore(tmp_path / "index", dim=DIM).at(1).scan())) == 1
    assert len(list(LanceGraphStore(tmp_path / "index").at(1).scan_nodes())) == len(samples.nodes)


def test_a_closed_store_opens_again_on_use(store: LanceChunkStore) -> None:
    publish(store, 1, "a")
    store.close()
    assert len(list(store.at(1).scan())) == 1


def test_an_apply_is_one_version_and_an_empty_one_none(tmp_path: Path, store: LanceChunkStore) -> None:
    first = publish(store, 1, *(f"text {n}" for n in range(50)))
    writer = store.writer()
    writer.stage(2, base=1)
    writer.apply([], [])
    assert writer.finish(2).version == first.version
    writer.stage(3, base=2)
    known = make_chunk("text 1")
    writer.apply(
        [(make_chunk("new"), make_vectors()), (make_chunk("text 2"), make_vectors(axis(4)))], [known.id]
    )
    assert first.version is not None
    assert writer.finish(3).version == first.version + 1


def test_a_generation_file_can_name_the_version_it_is(tmp_path: Path, store: LanceChunkStore) -> None:
    state = publish(store, 1, "a")
    table = lancedb.connect(tmp_path / "index").open_table(CHUNKS)
    assert table.tags.get_version("gen-1") == state.version == store.at(1).state().version


def test_a_commit_by_somebody_else_is_a_stale_lease(tmp_path: Path, store: LanceChunkStore) -> None:
    publish(store, 1, "a", "b")
    writer = store.writer()
    writer.stage(2, base=1)
    lancedb.connect(tmp_path / "index").open_table(CHUNKS).delete("text = 'a'")
    with pytest.raises(StaleLease):
        writer.apply([(make_chunk("c"), make_vectors())], [])
    with pytest.raises(StaleLease):
        writer.finish(2)
    assert publish(store, 2, "c").counts == {"html": 3}


def test_a_commit_by_somebody_else_during_a_merge_is_a_stale_lease(
    tmp_path: Path, store: LanceChunkStore
) -> None:
    publish(store, 1, "a", "b")
    writer = store.writer()
    writer.stage(2, base=1)

    def rows() -> Iterator[Any]:
        yield make_chunk("c"), make_vectors()
        lancedb.connect(tmp_path / "index").open_table(CHUNKS).delete("text = 'a'")
        for number in range(2000):
            yield make_chunk(f"number {number}"), make_vectors()

    with pytest.raises(StaleLease):
        writer.apply(rows(), [])


def test_many_rows_are_merged_in_bounded_commits(
    store: LanceChunkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "MAX_MERGED_ROWS", 1000)
    first = publish(store, 1, "a", "goes")
    writer = store.writer()
    writer.stage(2, base=1)
    rows = [(make_chunk(f"number {n}"), make_vectors()) for n in range(2500)]
    writer.apply(iter(rows * 2), [make_chunk("goes").id])
    assert first.version is not None
    assert writer.finish(2).counts == {"html": 2501}
    assert store.at(2).get([make_chunk("goes").id]) == ()


def test_a_small_change_leaves_the_indexes_alone(tmp_path: Path, store: LanceChunkStore) -> None:
    publish(store, 1, *(f"text {n}" for n in range(100)))

    def indexes() -> dict[str, tuple[str, int]]:
        table = lancedb.connect(tmp_path / "index").open_table(CHUNKS)
        return {i.name: (i.index_uuid, i.num_unindexed_rows) for i in table.list_indices()}

    filled = indexes()
    assert {rows for _, rows in filled.values()} == {0}
    publish(store, 2, "one more")
    assert {name: uuid for name, (uuid, _) in indexes().items()} == {n: u for n, (u, _) in filled.items()}
    assert len(store.at(2).search_text(SearchField.TEXT, "more", top_k=5)) == 1
    publish(store, 3, *(f"word {n}" for n in range(40)))
    assert {rows for _, rows in indexes().values()} == {0}


def test_a_flipped_text_vector_or_derived_column_is_found(tmp_path: Path, store: LanceChunkStore) -> None:
    publish(store, 1, "intact", "rotten text", "rotten vector", "rotten heading")
    table = lancedb.connect(tmp_path / "index").open_table(CHUNKS)
    table.update(where="text = 'rotten text'", values={"token_count": 99})
    table.update(where="text = 'rotten vector'", values={"text_vector": axis(5).tolist()})
    table.update(where="text = 'rotten heading'", values={"heading": "Other"})
    table.tags.update("gen-1", table.version)
    rotten = sorted(make_chunk(f"rotten {part}").id for part in ("text", "vector", "heading"))
    assert list(store.at(1).damaged_rows()) == rotten


def test_a_row_that_is_no_chunk_any_more_is_damaged(tmp_path: Path, store: LanceChunkStore) -> None:
    publish(store, 1, "a")
    table = lancedb.connect(tmp_path / "index").open_table(CHUNKS)
    table.update(values={"kind": "no such kind"})
    table.tags.update("gen-1", table.version)
    assert store.at(1).damaged_rows() == (make_chunk("a").id,)


def test_damaged_nodes_and_edges_are_found(tmp_path: Path) -> None:
    store, graph = LanceGraphStore.create(tmp_path), make_graph()
    writer = store.writer()
    writer.stage(1, base=0)
    writer.apply_nodes(graph.nodes, [])
    writer.apply_edges(graph.edges, [])
    writer.finish(1)
    database = lancedb.connect(tmp_path)
    for name, key, values in (
        ("nodes", graph.page.id, {"props": "{}"}),
        ("nodes", graph.pdf.id, {"source": "other"}),
        ("edges", graph.edges[0].id, {"kind": "no such kind"}),
        ("edges", graph.edges[1].id, {"dst": "elsewhere"}),
    ):
        table = database.open_table(name)
        table.update(where=f"id = '{key}'", values=values)
        table.tags.update("gen-1", table.version)
    want = sorted([graph.page.id, graph.pdf.id, graph.edges[0].id, graph.edges[1].id])
    assert list(store.at(1).damaged_rows()) == want


def test_a_reader_process_keeps_its_generation_while_others_are_published(
    tmp_path: Path, store: LanceChunkStore
) -> None:
    pinned = publish(store, 1, "common one", "common two")
    with running(answer_from, tmp_path / "index", 1) as (_, pipe):
        assert pipe.recv() == "ready"
        answers = []
        for generation in range(2, 8):
            publish(store, generation, f"common {generation}")
            store.writer().prune(keep=[generation - 1, generation])
            pipe.send(True)
            answers.append(pipe.recv())
        pipe.send(False)
    assert {digest for digest, _, _ in answers} == {pinned.digest}
    assert len({(words, near) for _, words, near in answers}) == 1
    assert len(answers[0][1]) == 2
    with pytest.raises(StoreUnavailable):
        store.at(1)


def test_versions_stay_bounded_and_a_reader_of_a_removed_one_is_told(
    tmp_path: Path, store: LanceChunkStore
) -> None:
    publish(store, 1, *(f"common {n}" for n in range(40)))
    counts = []
    with running(answer_from, tmp_path / "index", 1) as (_, pipe):
        assert pipe.recv() == "ready"
        for generation in range(2, 70):
            publish(store, generation, f"common text {generation}")
            store.writer().prune(keep=range(generation - 2, generation + 1))
            counts.append(len(lancedb.connect(tmp_path / "index").open_table(CHUNKS).list_versions()))
        pipe.send(True)
        assert isinstance(pipe.recv(), StoreUnavailable)
    assert max(counts) < 2 * table_upkeep.MAX_STALE_VERSIONS + 20
    assert [sum(store.at(n).state().counts.values()) for n in (67, 68, 69)] == [106, 107, 108]
    assert len(store.at(69).search_text(SearchField.TEXT, "common", top_k=200)) == 108


def test_a_writer_killed_in_the_middle_of_an_apply_leaves_nothing_behind(
    tmp_path: Path, store: LanceChunkStore
) -> None:
    before = publish(store, 1, "a")
    with running(apply_without_end, tmp_path / "index", 2, 1) as (process, pipe):
        assert pipe.recv() == "under way"
        process.kill()
        process.join()
    assert store.at(1).state() == before
    undisturbed = LanceChunkStore.create(tmp_path / "undisturbed", dim=DIM)
    publish(undisturbed, 1, "a")
    assert publish(store, 2, "b").digest == publish(undisturbed, 2, "b").digest


def test_a_first_load_and_a_merge_of_the_same_rows_are_equal(tmp_path: Path, store: LanceChunkStore) -> None:
    rows = [(full_chunk(), make_vectors()), (make_chunk("b"), make_vectors())]
    writer = store.writer()
    writer.stage(1, base=0)
    writer.apply(rows, [])
    loaded = writer.finish(1)
    other = LanceChunkStore.create(tmp_path / "other", dim=DIM).writer()
    other.stage(1, base=0)
    other.apply(rows[1:], [])
    other.apply(rows, [])
    assert other.finish(1).digest == loaded.digest


def test_reading_an_index_needs_no_model_library(tmp_path: Path, store: LanceChunkStore) -> None:
    slow = "{'torch', 'transformers', 'pandas'}"
    code = f"import sys, indexes.stores.lance.store; print(*({slow} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""


@pytest.mark.parametrize(("small", "searches"), [(5_000, 2), (0, 5)], ids=["small", "large"])
def test_a_small_table_is_asked_once_for_the_words_of_a_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: int, searches: int
) -> None:
    store = LanceChunkStore.create(tmp_path, dim=DIM)
    writer = store.writer()
    writer.stage(1, base=0)
    texts = ("a lamp", "a lamp and a lantern", "a bell")
    writer.apply(
        [(make_chunk(text, uri=f"https://{text[-4:]}.test/{len(text)}"), make_vectors()) for text in texts],
        [],
    )
    writer.finish(1)
    found = store.at(1)
    of_docs = {chunk.text: Filter(field="doc", values=(chunk.doc,)) for chunk in found.scan()}
    monkeypatch.setattr(chunks, "SMALL", small)
    fetches = list[str]()
    match = LanceChunkReader._match

    def counted(one: LanceChunkReader, column: str, *given: Any) -> Any:
        fetches.append(column)
        return match(one, column, *given)

    monkeypatch.setattr(LanceChunkReader, "_match", counted)
    lamps, bell = of_docs["a lamp"], of_docs["a bell"]
    asked = [(), (lamps,), (bell,), (lamps, bell)]
    hits = [found.search_text(SearchField.TEXT, "lamp lantern", top_k=5, filters=one) for one in asked]
    said = [{chunk.text for chunk in found.get([hit.chunk_id for hit in one])} for one in hits]

    assert found.search_text(SearchField.TEXT, "lamp", top_k=1) != ()
    assert said == [{"a lamp", "a lamp and a lantern"}, {"a lamp"}, set(), set()]
    assert hits[1] == tuple(hit for hit in hits[0] if hit.doc == lamps.values[0])
    assert len(fetches) == searches
