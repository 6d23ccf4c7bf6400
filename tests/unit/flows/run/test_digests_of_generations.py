"""What a generation says of its stores is compared with them, whichever version published it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.run.damage import damaged_rows
from flows.run.index import Index
from indexes.digests import sorted_digest
from indexes.layout import IndexLayout, IndexManifest, ModelManifest
from indexes.publish.current import write_current
from indexes.publish.generation import GenerationManifest, dump_generation, store_record
from schemas.settings import Settings
from tests.fakes.chunk_generations import publish as publish_chunks
from tests.fakes.chunk_generations import row
from tests.fakes.graph_generations import publish as publish_graph
from tests.fakes.graph_samples import DIM, make_page
from tests.fakes.memory_stores import MemoryChunkStore, MemoryGraphStore

Records = dict[str, dict[str, object]]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """An index of one generation, with its stores in memory."""
    model = ModelManifest(name="test", sha256="0" * 64, dim=DIM, max_tokens=256)
    manifest = IndexManifest(index_id="test", graph="lance", model=model)
    index = Index(layout=IndexLayout(tmp_path), manifest=manifest, settings=Settings())
    index.opened_chunks, index.opened_graph = MemoryChunkStore(dim=DIM), MemoryGraphStore()  # type: ignore[assignment]
    yield index
    index.close()


def publish(index: Index) -> Records:
    """Write rows; what the generation is to say of each table."""
    item = row("a")
    chunks = publish_chunks(index.chunks, 1, [item])
    chunk_node = make_page("https://site.test/a", id=item[0].id)
    nodes, edges = publish_graph(index.graph, 1, [chunk_node])
    return {name: store_record(s) for name, s in (("chunks", chunks), ("nodes", nodes), ("edges", edges))}


def say(index: Index, records: Records) -> None:
    manifest = GenerationManifest(
        generation=1, base=0, as_of="2026-03-01", source="s", run_id="r", plan_sha="p", stores=records
    )
    dump_generation(index.layout, manifest)
    write_current(index.layout.root, 1)


def of_an_earlier_version(index: Index, records: Records) -> Records:
    """The same as it was said before digests followed the change."""
    nodes, edges = index.graph.at(1).row_hashes()
    hashes = {"chunks": index.chunks.at(1).row_hashes(), "nodes": nodes, "edges": edges}
    return {
        name: {"counts": record["counts"], "digest": sorted_digest(hashes[name]), "version": None}
        for name, record in records.items()
    }


def test_rows_that_are_there_as_published_are_no_damage(index: Index) -> None:
    say(index, publish(index))
    assert damaged_rows(index, 1) == ()


def test_nor_are_those_of_an_earlier_version(index: Index) -> None:
    say(index, of_an_earlier_version(index, publish(index)))
    assert damaged_rows(index, 1) == ()


@pytest.mark.parametrize("earlier", [False, True])
def test_another_digest_is_damage(index: Index, earlier: bool) -> None:
    records = publish(index)
    records = of_an_earlier_version(index, records) if earlier else records
    say(index, {**records, "nodes": {**records["nodes"], "digest": "0" * 64}})
    ((table, what),) = damaged_rows(index, 1)
    assert (table, what[:10]) == ("nodes", "digest is ")
