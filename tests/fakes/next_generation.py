"""Further generations of an index on disk, published as a run publishes them."""

from collections.abc import Iterable
from pathlib import Path

from indexes.publish.current import read_current, write_current
from indexes.publish.generation import GenerationManifest, dump_generation
from indexes.wiring import OpenedStores
from schemas.edges import Edge
from schemas.settings import Settings
from tests.fakes.small_index import AS_OF, Document, vectors_of


def publish_next(root: Path, documents: Iterable[Document], edges: Iterable[Edge] = ()) -> int:
    """Make *documents* all that the index holds, as a generation of its own; give its number."""
    stores, base = OpenedStores(root, Settings()), read_current(root)
    number, listed = base + 1, tuple(documents)
    nodes = [node for found, _ in listed for node in found]
    encoder = stores.encoder(stores.chunks.space(base))
    rows = [(chunk, vectors_of(chunk, encoder)) for _, found in listed for chunk in found]
    before = stores.chunks.at(base), stores.graph.at(base)
    gone = {chunk.id for chunk in before[0].scan()} - {chunk.id for chunk, _ in rows}
    writer = stores.chunks.writer()
    writer.stage(number, base=base)
    writer.apply(rows, gone)
    writer.finish(number)
    joiner, joined = stores.graph.writer(), tuple(edges)
    joiner.stage(number, base=base)
    joiner.apply_edges((), {edge.id for edge in before[1].scan_edges()} - {edge.id for edge in joined})
    joiner.apply_nodes(nodes, {node.id for node in before[1].scan_nodes()} - {node.id for node in nodes})
    joiner.apply_edges(joined, ())
    joiner.finish(number)
    manifest = GenerationManifest(
        generation=number, base=base, as_of=AS_OF, source="manual", run_id="r", plan_sha="0" * 64
    )
    dump_generation(stores.layout, manifest)
    write_current(root, number)
    stores.close()
    return number
