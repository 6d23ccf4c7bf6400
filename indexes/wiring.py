"""Index folder and environment to stores: the one place that names the concrete classes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from indexes.chunk_tables import ChunkTables
from indexes.embed.reader_encoder import OnnxEncoder
from indexes.layout import IndexLayout
from indexes.manifest import FILES, IndexManifest, VectorSpace, load_manifest
from indexes.ports import ChunkReader, Encoder, GraphReader, GraphStore, RawStore
from indexes.publish.current import read_current
from indexes.publish.generation import load_generation, space_of
from schemas.errors import ConfigError, SchemaMismatch, StoreUnavailable

if TYPE_CHECKING:
    from indexes.stores.neo4j_.store import Neo4jGraphStore

NEO4J_URI, NEO4J_USER, NEO4J_PASSWORD = (
    "SITEGRAPH_NEO4J_URI",
    "SITEGRAPH_NEO4J_USER",
    "SITEGRAPH_NEO4J_PASSWORD",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """Everything a query needs, pinned to one generation.

    `degraded` names what could not be opened, and `warnings` says why, one line each.
    """

    index: Path
    manifest: IndexManifest
    generation: int
    as_of: str
    chunks: ChunkReader
    graph: GraphReader | None
    encoder: Encoder
    degraded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def open_readers(index: Path, *, environment: Mapping[str, str], use_graph: bool = True) -> Readers:
    """Open an index for reading at its current generation.

    A graph server that cannot be reached degrades the answer and fails nothing. A generation pruned
    while it was being opened is given up for the one that is current by then.

    Raises: ConfigError: no index there; SchemaMismatch: its encoder is of another model;
    StoreUnavailable: the chunk store cannot be read.
    """
    layout = IndexLayout(index)
    manifest = load_manifest(layout)
    generation = read_current(index)
    try:
        return _open_at(generation, layout, manifest, environment, use_graph=use_graph)
    except StoreUnavailable:
        current = read_current(index)
        if current == generation:
            raise
        return _open_at(current, layout, manifest, environment, use_graph=use_graph)


def open_chunk_store(layout: IndexLayout, manifest: IndexManifest) -> ChunkTables:
    """Open the chunk store of an index."""
    return ChunkTables(layout, manifest)


def open_graph_store(
    layout: IndexLayout, manifest: IndexManifest, environment: Mapping[str, str]
) -> GraphStore:
    """Open the graph store that the manifest names; a server is reached at its first use.

    Raises: ConfigError: the environment does not say where Neo4j is.
    """
    if manifest.graph == "neo4j":
        return _neo4j(manifest, environment)
    from indexes.stores.lance.store import LanceGraphStore

    return LanceGraphStore(layout.lance)


def open_raw_store(folder: Path, manifest: IndexManifest) -> RawStore:
    """Open what an index keeps by hash in *folder*: there, or under the folder's name in object storage.

    Raises: ConfigError: no URL of object storage, or its driver is missing.
    """
    if manifest.raw == FILES:
        from indexes.stores.raw import FileRawStore

        return FileRawStore(folder)
    from indexes.stores.objects import open_object_store

    return open_object_store(f"{manifest.raw.rstrip('/')}/{manifest.index_id}/{folder.name}")


def create_stores(layout: IndexLayout, manifest: IndexManifest, environment: Mapping[str, str]) -> None:
    """Make empty stores for a new index; harmless to repeat.

    Raises: ConfigError: the environment does not say where Neo4j is, or a URL of object storage is none;
    StoreUnavailable: one of them is not there.
    """
    from indexes.stores.lance.store import LanceChunkStore, LanceGraphStore

    if manifest.raw != FILES:
        _try_out(open_raw_store(layout.raw, manifest))
    if manifest.graph == "neo4j":
        _neo4j(manifest, environment).create()
    else:
        LanceGraphStore.create(layout.lance)
    LanceChunkStore.create(layout.lance, dim=manifest.model.dim)


def _try_out(raw: RawStore) -> None:
    """Read, write, list and delete once, so that a missing right is known before anything is crawled."""
    probe = raw.put(b"")
    next(raw.hashes(), None)
    raw.drop(probe)


def _neo4j(manifest: IndexManifest, environment: Mapping[str, str]) -> "Neo4jGraphStore":
    from indexes.stores.neo4j_.store import Neo4jGraphStore

    uri = environment.get(NEO4J_URI)
    if not uri:
        raise ConfigError(
            f"is not set, and the graph of this index is in Neo4j; set it, {NEO4J_USER} and {NEO4J_PASSWORD}",
            subject=NEO4J_URI,
        )
    user, password = environment.get(NEO4J_USER, "neo4j"), environment.get(NEO4J_PASSWORD, "")
    return Neo4jGraphStore(uri, user, password, index_id=manifest.index_id)


def _open_encoder(layout: IndexLayout, space: VectorSpace) -> OnnxEncoder:
    """Open the encoder; its runtime and weights load while the driver of the store is imported."""
    folder = layout.root / space.encoder
    encoder = OnnxEncoder(folder)
    if (encoder.model_sha256, encoder.dim) != (space.model.sha256, space.model.dim):
        raise SchemaMismatch(
            f"holds an encoder of another model than the index was built with ({space.model.name}); "
            "delete the folder and run again to export it anew",
            subject=str(folder),
        )
    encoder.load_in_background()
    return encoder


def _open_at(
    generation: int,
    layout: IndexLayout,
    manifest: IndexManifest,
    environment: Mapping[str, str],
    *,
    use_graph: bool,
) -> Readers:
    space = space_of(layout, manifest, generation)
    encoder = _open_encoder(layout, space)
    tables = open_chunk_store(layout, manifest)
    tables.declare(generation, space)  # whatever is pruned meanwhile, encoder and vectors are of one model
    chunks = tables.at(generation)
    graph, warning = None, None
    if use_graph:
        try:
            graph = open_graph_store(layout, manifest, environment).at(generation)
        except (StoreUnavailable, ConfigError) as error:
            warning = f"answering without the graph: {error}"
    return Readers(
        index=layout.root,
        manifest=manifest,
        generation=generation,
        as_of=load_generation(layout, generation).as_of,
        chunks=chunks,
        graph=graph,
        encoder=encoder,
        degraded=("graph",) if warning else (),
        warnings=(warning,) if warning else (),
    )
