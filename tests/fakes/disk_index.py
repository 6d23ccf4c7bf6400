"""A real index folder: LanceDB stores, the exported default encoder, generation 1 published."""

import shutil
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from indexes.chunk_tables import ChunkTables
from indexes.embed.reader_encoder import OnnxEncoder
from indexes.embed.weights import load_model_spec
from indexes.layout import IndexLayout, IndexManifest, ModelManifest, dump_manifest
from indexes.own_ledger import ledger_url_of
from indexes.places import write_durably
from indexes.ports import Encoder
from indexes.publish.current import write_current
from indexes.publish.generation import GenerationManifest, dump_generation
from indexes.stores.ledger.ledger import open_ledger
from indexes.wiring import create_stores, open_graph_store
from schemas.edges import Edge
from schemas.settings import Settings
from tests.fakes.small_index import AS_OF, GENERATION, Document, write_documents


def write_index(
    root: Path,
    documents: Iterable[Document],
    edges: Iterable[Edge],
    *,
    encoder: Path,
    vectors: Encoder | None = None,
) -> Path:
    """Write an index folder with *documents*, as a run leaves it; *encoder* is an export to copy.

    *vectors* makes those of the chunks, where the exported encoder would take too long.
    """
    layout = IndexLayout(root)
    root.mkdir(parents=True, exist_ok=True)
    shutil.copytree(encoder, layout.encoder)
    spec = load_model_spec()
    model = ModelManifest(name=spec.name, sha256=spec.sha256, dim=spec.dim, max_tokens=spec.max_tokens)
    manifest = IndexManifest(index_id="test", graph="lance", model=model)
    create_stores(layout, manifest, Settings())
    chunks, graph = ChunkTables(layout, manifest), open_graph_store(layout, manifest, Settings())
    write_documents(chunks, graph, documents, edges, vectors or OnnxEncoder(layout.encoder))
    write_durably(layout.manifest, dump_manifest(manifest))
    generation = GenerationManifest(
        generation=GENERATION, base=0, as_of=AS_OF, source="manual", run_id="run-1", plan_sha="0" * 64
    )
    dump_generation(layout, generation)
    write_current(root, GENERATION)
    with closing(open_ledger(ledger_url_of(layout, None))) as ledger:
        ledger.owner.claim(manifest.index_id)
    return root
