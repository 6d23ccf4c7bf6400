"""What `Chunk` nodes say to people and to retrievers of other packages."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from indexes.ports import ChunkReader, ChunkVectors
from indexes.stores.neo4j_.store import Neo4jGraphStore
from indexes.stores.neo4j_.view import FIELDS, chunk_properties, stale_chunks
from schemas.errors import ConfigError
from schemas.nodes import Chunk, ChunkNode, Node
from tests.fakes.graph_generations import publish
from tests.fakes.graph_samples import axis, full_chunk, make_chunk, make_vectors, none
from tests.fakes.memory_stores import MemoryChunkReader, MemoryChunkStore
from tests.fakes.neo4j_server import Neo4jServer
from tests.fakes.neo4j_stores import Neo4jStores, query_session, vector_index_alone

IX = "test-passages"
VECTOR_INDEXES = (
    "SHOW VECTOR INDEXES YIELD name, options WHERE name = 'sitegraph_chunk_embedding' "
    "RETURN options.indexConfig['vector.dimensions'] AS dim"
)

Ask = Callable[..., list[dict[str, Any]]]


@pytest.mark.parametrize(
    ("mark", "embedded", "stale"),
    [
        (None, False, True),
        ("sha", False, False),
        ("sha", True, True),
        ("sha+embedding", True, False),
        ("sha+embedding", False, True),
        ("old", False, True),
    ],
)
def test_a_node_that_says_something_else_than_the_chunk_store_is_stale(
    mark: str | None, embedded: bool, stale: bool
) -> None:
    found = stale_chunks({"b": mark, "gone": None}, {"b": "sha", "a": "sha"}, embedded=embedded)
    assert found == (("b",) if stale else ())


def test_a_field_without_a_value_takes_an_older_one_away() -> None:
    full, plain = full_chunk(), make_chunk("words")
    said = {name for name, value in chunk_properties(plain, "x", embedded=False).items() if value is None}
    assert said >= {"page_no", "section_id", "lang"}
    # Boxes are lists of numbers with a name of their own, which the plain chunk clears as well.
    of_full = chunk_properties(full, "x", embedded=False)
    assert set(of_full) - {"bbox_json", "page_size_json"} <= {*FIELDS, "document_kind", "passage_sha256"}
    assert {name for name, value in of_full.items() if value is not None} <= set(
        chunk_properties(plain, "x", embedded=False)
    )


@pytest.fixture
def ask(neo4j_server: Neo4jServer) -> Iterator[Ask]:
    # The vector index finds the chunks of all graphs of a server.
    with vector_index_alone(neo4j_server), query_session(neo4j_server) as session:
        yield lambda statement, **more: session.run(statement, ix=IX, **more).data()


@pytest.fixture
def clean_vector_index(ask: Ask) -> Iterator[None]:
    """No vector index before the test, and none of its own after it."""
    ask("DROP INDEX sitegraph_chunk_embedding IF EXISTS")
    yield
    ask("DROP INDEX sitegraph_chunk_embedding IF EXISTS")


def node_of(chunk: Chunk) -> Node:
    return ChunkNode(id=chunk.id, doc=chunk.doc, source=chunk.source, content_hash=chunk.content_hash)


def put(store: MemoryChunkStore, generation: int, *chunks: Chunk, dim: int = 8) -> Callable[[], ChunkReader]:
    """Publish chunks, each with a vector along its own axis."""
    writer = store.writer()
    writer.stage(generation, base=generation - 1)
    writer.apply([(chunk, vectors_along(number, dim)) for number, chunk in enumerate(chunks)], [])
    writer.finish(generation)
    return lambda: store.at(generation)


def vectors_along(number: int, dim: int) -> ChunkVectors:
    of_several = {"anchors": none(dim=dim), "captions": none(dim=dim)}
    return make_vectors(axis(number, dim=dim), heading=axis(1, dim=dim), **of_several)


SAID_OF_DOCUMENT = "MATCH (c:Chunk {ix: $ix}) RETURN c.text AS text, c.doc_id AS doc_id ORDER BY text"
SAID = (
    "MATCH (c:Chunk {ix: $ix}) RETURN c.text AS text, c.page_no AS page, c.embedding AS vector ORDER BY text"
)


@pytest.mark.neo4j
def test_people_read_what_passages_say_and_what_they_say_now(
    neo4j_graph_store_factory: Neo4jStores, ask: Ask
) -> None:
    graph, chunks = neo4j_graph_store_factory(index_id=IX), MemoryChunkStore(dim=8)
    one, two = full_chunk(), make_chunk("plain words")
    publish(graph, 1, [node_of(one), node_of(two)])
    graph.show(1, put(chunks, 1, one, two))
    assert [(row["text"], row["page"]) for row in ask(SAID)] == [(one.text, 2), ("plain words", None)]

    # The graph has no other rows now: what a chunk says of its place may change without it.
    moved = replace(one, page_no=None, doc_id="GOV-0018")
    publish(graph, 2)
    graph.show(2, put(chunks, 2, moved, two))

    assert [(row["text"], row["page"]) for row in ask(SAID)] == [(one.text, None), ("plain words", None)]
    assert ask("MATCH (c:Chunk {ix: $ix, doc_id: 'GOV-0018'}) RETURN count(c) AS n") == [{"n": 1}]
    found = ask(
        "CALL db.index.fulltext.queryNodes('sitegraph_chunk_text', 'plain') YIELD node RETURN node.id"
    )
    assert two.id in {row["node.id"] for row in found}


@pytest.mark.neo4j
def test_of_a_small_change_only_the_nodes_that_it_emptied_or_wrote_are_filled(
    neo4j_graph_store_factory: Neo4jStores, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, chunks = neo4j_graph_store_factory(index_id=IX), MemoryChunkStore(dim=8)
    emptied, written, stays = make_chunk("emptied"), make_chunk("written"), make_chunk("stays")
    publish(graph, 1, [node_of(chunk) for chunk in (emptied, written, stays)])
    graph.show(1, put(chunks, 1, emptied, written, stays))

    # The row of the graph alone changes for one, the row of the chunk store alone for another.
    publish(graph, 2, [replace(node_of(emptied), content_hash="other")])
    reader = put(chunks, 2, emptied, replace(written, doc_id="GOV-0018"), stays)
    asked = spy_on_hashes(monkeypatch)
    graph.show(2, reader, written=lambda base: [written.id] if base == 1 else None)

    assert asked == [{emptied.id, written.id}]
    assert [(row["text"], row["doc_id"]) for row in ask(SAID_OF_DOCUMENT)] == [
        ("emptied", None),
        ("stays", None),
        ("written", "GOV-0018"),
    ]
    monkeypatch.undo()
    graph.show(1, lambda: chunks.at(1))
    assert [row["doc_id"] for row in ask(SAID_OF_DOCUMENT)] == [None, None, None]


@pytest.mark.neo4j
def test_all_nodes_are_looked_at_unless_people_saw_what_the_generation_was_built_on(
    neo4j_graph_store_factory: Neo4jStores, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, chunks = neo4j_graph_store_factory(index_id=IX), MemoryChunkStore(dim=8)
    one, two = make_chunk("one"), make_chunk("two")
    publish(graph, 1, [node_of(one), node_of(two)])
    graph.show(1, put(chunks, 1, one, two))
    # Nobody was shown the second, in which a chunk changed: the third does not know of it.
    publish(graph, 2)
    put(chunks, 2, replace(one, doc_id="GOV-0018"), two)
    publish(graph, 3)
    reader = put(chunks, 3, replace(one, doc_id="GOV-0018"), two)
    asked = spy_on_hashes(monkeypatch)
    graph.show(3, reader, written=lambda base: [two.id] if base == 2 else None)

    assert asked == [None]
    assert [row["doc_id"] for row in ask(SAID_OF_DOCUMENT)] == ["GOV-0018", None]


@pytest.mark.neo4j
def test_a_crash_while_nodes_are_filled_makes_the_next_look_at_all(
    neo4j_graph_store_factory: Neo4jStores, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, chunks = neo4j_graph_store_factory(index_id=IX), MemoryChunkStore(dim=8)
    one, two = make_chunk("one"), make_chunk("two")
    publish(graph, 1, [node_of(one), node_of(two)])
    graph.show(1, put(chunks, 1, one, two))
    publish(graph, 2, [replace(node_of(one), content_hash="other")])
    reader = put(chunks, 2, one, two)

    def crash() -> ChunkReader:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        graph.show(2, crash, written=lambda _base: ())
    assert not graph.shows(2)
    assert [row["text"] for row in ask(SAID_OF_DOCUMENT)] == ["two", None]
    asked = spy_on_hashes(monkeypatch)
    graph.show(2, reader, written=lambda _base: ())

    assert asked == [None]
    assert [row["text"] for row in ask(SAID_OF_DOCUMENT)] == ["one", "two"]


def spy_on_hashes(monkeypatch: pytest.MonkeyPatch) -> list[set[str] | None]:
    """The ids that hashes of chunks are asked for from now on; None for all."""
    asked: list[set[str] | None] = []
    read = MemoryChunkReader.row_hashes

    def heard(self: MemoryChunkReader, ids: Collection[str] | None = None) -> Mapping[str, str]:
        asked.append(None if ids is None else set(ids))
        return read(self, ids)

    monkeypatch.setattr(MemoryChunkReader, "row_hashes", heard)
    return asked


@pytest.mark.neo4j
@pytest.mark.usefixtures("clean_vector_index")
def test_vectors_come_and_go_with_the_setting_and_are_found_by_cosine(
    neo4j_graph_store_factory: Neo4jStores, neo4j_server: Neo4jServer, ask: Ask
) -> None:
    plain, chunks = neo4j_graph_store_factory(index_id=IX), MemoryChunkStore(dim=8)
    one, two = make_chunk("one"), make_chunk("two")
    publish(plain, 1, [node_of(one), node_of(two)])
    passages = put(chunks, 1, one, two)
    plain.show(1, passages)
    assert [row["vector"] for row in ask(SAID)] == [None, None]

    with_vectors = Neo4jGraphStore(
        neo4j_server.uri, neo4j_server.user, neo4j_server.password, index_id=IX, embeddings=True
    )
    with_vectors.show(1, passages)
    with_vectors.close()

    assert [row["vector"] for row in ask(SAID)] == [axis(0).tolist(), axis(1).tolist()]
    nearest = ask(
        "CALL db.index.vector.queryNodes('sitegraph_chunk_embedding', 1, $vector) YIELD node, score "
        "RETURN node.text AS text, score",
        vector=axis(1).tolist(),
    )
    assert nearest == [{"text": "two", "score": pytest.approx(1.0)}]
    plain.show(1, passages)
    assert [row["vector"] for row in ask(SAID)] == [None, None]


@pytest.mark.neo4j
@pytest.mark.usefixtures("clean_vector_index")
def test_vectors_of_another_dimension_take_the_index_over_unless_another_index_needs_it(
    neo4j_graph_store_factory: Neo4jStores, neo4j_server: Neo4jServer, ask: Ask
) -> None:
    address = (neo4j_server.uri, neo4j_server.user, neo4j_server.password)
    ours = Neo4jGraphStore(*address, index_id=IX, embeddings=True)
    neo4j_graph_store_factory(index_id=IX)
    chunk = make_chunk("one")
    publish(ours, 1, [node_of(chunk)])
    ours.show(1, put(MemoryChunkStore(dim=8), 1, chunk))
    publish(ours, 2)
    second = MemoryChunkStore(dim=4)
    put(second, 1, chunk, dim=4)
    ours.show(2, lambda: second.at(1))
    assert ask(VECTOR_INDEXES) == [{"dim": 4}]

    neo4j_graph_store_factory(index_id="test-other")
    other = Neo4jGraphStore(*address, index_id="test-other", embeddings=True)
    publish(other, 1, [node_of(chunk)])
    with pytest.raises(ConfigError, match="SITEGRAPH_NEO4J_EMBEDDINGS"):
        other.show(1, put(MemoryChunkStore(dim=8), 1, chunk))
    assert ask(VECTOR_INDEXES) == [{"dim": 4}]
    ours.close()
    other.close()


def test_times_are_times_of_neo4j_and_what_is_none_stays_a_text() -> None:
    chunk = replace(full_chunk(), fetched_at="2026-02-02", changed_at="last spring")
    said = chunk_properties(chunk, "x", embedded=False)
    assert said["last_modified"] == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert said["fetched_at"] == datetime(2026, 2, 2, tzinfo=UTC)
    assert said["changed_at"] == "last spring"
