"""A frozen plan into both stores, and the token that is asked for before each batch of it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby, product
from pathlib import Path

import lancedb
import pytest

from indexes.embed.pending import vector_texts
from indexes.frozen_plan import ROWS_PER_CHECK, Plan, StagedState, apply_plan, dump_payload
from indexes.layout import IndexLayout
from indexes.ports import ChunkStore, GraphStore
from indexes.stores.lance.store import LanceChunkStore, LanceGraphStore
from schemas.changes import RowChanges
from schemas.edges import EdgeKind
from schemas.errors import StaleLease, StoreUnavailable
from tests.fakes.encoder import HashEncoder
from tests.fakes.graph_samples import DIM, make_chunk, make_edge, make_graph, make_page
from tests.fakes.memory_stores import MemoryChunkStore, MemoryGraphStore, MemoryRawStore, MemoryVectorCache

Stores = tuple[GraphStore, ChunkStore]
SAMPLE = make_graph()
CHUNKS = tuple(make_chunk(f"passage {number}", ordinal=number) for number in range(3))
PAYLOADS = (
    RowChanges(nodes=tuple(SAMPLE.nodes), edges=tuple(SAMPLE.edges), chunks=CHUNKS[:2]),
    RowChanges(chunks=CHUNKS[2:]),
)


class Fence:
    """Lets so many checks pass; the next finds the lease taken over."""

    def __init__(self, passes: int | None = None) -> None:
        self.asked = 0
        self._passes = passes

    def __call__(self) -> None:
        if self.asked == self._passes:
            raise StaleLease("another run has taken over", subject="index")
        self.asked += 1


@pytest.fixture(params=["memory", "lance"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    """Empty stores of either kind."""
    if request.param == "memory":
        yield MemoryGraphStore(), MemoryChunkStore(dim=DIM)
        return
    folder = IndexLayout(tmp_path).lance
    graph, chunks = LanceGraphStore.create(folder), LanceChunkStore.create(folder, dim=DIM)
    yield graph, chunks
    graph.close()
    chunks.close()


def write(
    stores: Stores, payloads: tuple[RowChanges, ...], fence: Callable[[], None], *, generation: int = 1
) -> StagedState:
    """Apply payloads as a generation on the empty index."""
    outbox, vectors = MemoryRawStore(), MemoryVectorCache()
    texts = sorted({text for part in payloads for chunk in part.chunks for text in vector_texts(chunk)})
    vectors.put(texts, HashEncoder(DIM).encode_documents(texts))
    return apply_plan(
        Plan(store=outbox, payloads=tuple(dump_payload(outbox, part) for part in payloads)),
        generation=generation,
        base=0,
        graph=stores[0].writer(),
        chunks=stores[1].writer(),
        vectors_of=vectors.get,
        dim=DIM,
        fence=fence,
        crash_point=lambda _point: None,
    )


def test_a_plan_of_several_payloads_is_in_both_stores(stores: Stores) -> None:
    staged = write(stores, PAYLOADS, Fence())

    assert [chunk.text for chunk in stores[1].at(1).scan()] == [
        chunk.text for chunk in sorted(CHUNKS, key=lambda chunk: chunk.id)
    ]
    assert {node.id for node in stores[0].at(1).scan_nodes()} == {node.id for node in SAMPLE.nodes}
    assert sum(staged.edges.counts.values()) == len(SAMPLE.edges)


def test_a_stale_token_is_refused_wherever_it_is_found(stores: Stores) -> None:
    """Whichever check fails, the generation cannot be read, and a run with a good token makes it whole."""
    whole = Fence()
    write(stores, PAYLOADS, whole, generation=1)
    assert whole.asked >= 9, "before staging, twice in each of three tables, before each of two stores"

    for passes in range(whole.asked):
        with pytest.raises(StaleLease):
            write(stores, PAYLOADS, Fence(passes), generation=2)
        with pytest.raises(StoreUnavailable):
            stores[1].at(2)

    write(stores, PAYLOADS, Fence(), generation=2)
    assert stores[1].at(2).state().digest == stores[1].at(1).state().digest


def test_many_rows_are_checked_for_again_and_again() -> None:
    pages = [make_page(f"https://site.test/{number}") for number in range(2 * ROWS_PER_CHECK + 1)]
    few, many = Fence(), Fence()
    write((MemoryGraphStore(), MemoryChunkStore(dim=DIM)), (RowChanges(nodes=tuple(pages[:1])),), few)
    edges = tuple(make_edge(EdgeKind.LINKS_TO, pages[0], page) for page in pages[1:])

    payload = RowChanges(nodes=tuple(pages), edges=edges)
    write((MemoryGraphStore(), MemoryChunkStore(dim=DIM)), (payload,), many)

    assert many.asked == few.asked + 4, "two more batches of nodes, two of edges"


def test_rows_of_a_document_lie_next_to_each_other_in_the_files(tmp_path: Path) -> None:
    folder = IndexLayout(tmp_path).lance
    stores = LanceGraphStore.create(folder), LanceChunkStore.create(folder, dim=DIM)
    uris = [f"https://site.test/{number}" for number in range(9)]
    pages = [make_page(uri) for uri in uris]
    edges = [make_edge(EdgeKind.LINKS_TO, a, b) for b, a in product(pages, pages)]
    chunks = [make_chunk(f"part {n}", uri=uri, ordinal=n) for n in range(3) for uri in uris]
    parts = [replace(page, id=f"{page.id}#{part}") for part in ("a", "b", "c") for page in pages]
    rows = RowChanges(nodes=(*pages, *parts), edges=tuple(edges), chunks=tuple(chunks))
    write(stores, (rows,), Fence())
    for store in stores:
        store.close()

    database = lancedb.connect(folder)
    for table, each in (("nodes", 4), ("edges", len(pages)), ("chunks", 3)):
        docs = database.open_table(table).to_arrow().column("doc").to_pylist()
        assert [len(list(run)) for _, run in groupby(docs)] == [each] * len(pages)
