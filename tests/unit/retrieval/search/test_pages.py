"""What else stands on the page of a passage."""

from dataclasses import replace

from retrieval.question.query import build_query, parse_filters
from retrieval.search.seeds import EmbeddedQuery, read_same_pages
from tests.fakes.chunk_generations import publish
from tests.fakes.graph_samples import DIM, axis, full_chunk, make_vectors
from tests.fakes.memory_stores import MemoryChunkStore


def test_the_rest_of_a_page_is_what_follows_and_then_what_came_before() -> None:
    first = full_chunk()
    texts = ("one", "two", "three", "elsewhere")
    chunks = [
        replace(first, id=f"chunk:{text}", text=text, ordinal=place, page_no=4 if text == "elsewhere" else 3)
        for place, text in enumerate(texts)
    ]
    plain = replace(first, id="chunk:html", doc="page:x", page_no=None)
    store = MemoryChunkStore(dim=DIM)
    publish(store, 1, [(chunk, make_vectors()) for chunk in (*chunks, plain)])
    asked = EmbeddedQuery(query=build_query("what"), vector=axis(0))
    assert read_same_pages(store.at(1), asked, [chunks[1], plain]) == {"chunk:two": "three\none"}
    assert read_same_pages(store.at(1), asked, [plain]) == {}
    filtered = EmbeddedQuery(
        query=build_query("what", filters=parse_filters(["doc_type=none"])), vector=axis(0)
    )
    assert read_same_pages(store.at(1), filtered, [chunks[1]]) == {"chunk:two": ""}
