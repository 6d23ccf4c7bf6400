"""Index folder and settings to stores: the one place that names the concrete classes."""

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from indexes.chunk_tables import ChunkTables
from indexes.embed.manifest import MANIFEST_FILE as ENCODER_JSON
from indexes.embed.reader_encoder import OnnxEncoder
from indexes.families import NO_FAMILIES, Families
from indexes.layout import FILES, IndexLayout, IndexManifest, VectorSpace, is_repeated, load_manifest, remedy
from indexes.places import PATIENCE, is_in_bucket, object_place
from indexes.ports import (
    AuthorityReader,
    AuthorityStore,
    ChunkReader,
    Encoder,
    GraphReader,
    GraphStore,
    RawStore,
    Reranker,
)
from indexes.publish.current import read_current
from indexes.publish.files import HASHED_BYTES, FileCheck
from indexes.publish.generation import GenerationManifest, load_generation, open_trust, read_signature
from indexes.reader_parts import (
    ReaderMemory,
    cache_to_hold,
    load_weights,
    locate_reranker,
    open_reranker,
    share_memory,
)
from schemas.errors import ConfigError, DamageFound, SchemaMismatch, SitegraphError, StoreUnavailable
from schemas.evidence import Scores
from schemas.settings import GRAPH_BOOST, RAW_URL, Neo4jSettings, Settings, as_settings

if TYPE_CHECKING:
    import lancedb

    from indexes.embed.shared_cache import SharedVectorCache
    from indexes.stores.neo4j_.store import Neo4jGraphStore

_log = logging.getLogger(__name__)

SMALL_MB = 12  # up to which a table is read whole for one query: some 3,000 chunks


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """Everything a query needs, pinned to one generation.

    `degraded` names what could not be opened, and `warnings` says why, one line each. `weights` are those of
    the blend where `sitegraph tune --apply` found better ones, `graph_boost` what an edge of a document named
    by id adds. `families` are the manuals with versions.
    """

    index: Path
    manifest: IndexManifest
    generation: int
    as_of: str
    chunks: ChunkReader
    graph: GraphReader | None
    authority: AuthorityReader
    encoder: Encoder
    reranker: Reranker | None = None
    degraded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    weights: Scores | None = None
    graph_boost: float = GRAPH_BOOST
    families: Families = NO_FAMILIES


def open_readers(
    index: Path,
    *,
    environment: Mapping[str, str] | Settings,
    use_graph: bool = True,
    use_rerank: bool = False,
    generation: int | None = None,
) -> Readers:
    """Open an index for reading at its current generation, or at another one that is kept.

    A graph server that cannot be reached degrades the answer and fails nothing; nor does a reranker that
    is not installed. A generation pruned while it was being opened is given up for the one that is current
    by then.

    Raises: ConfigError: no index there; SchemaMismatch: its encoder is of another model; DamageFound: a file
    is lost or no longer what was published; StoreUnavailable: the chunk store cannot be read.
    """
    stores = OpenedStores(index, as_settings(environment))
    return readers_of(stores, use_graph=use_graph, use_rerank=use_rerank, generation=generation)


class OpenedStores:
    """Stores and encoder of one index, opened when first asked for; readers of many generations share them.

    Args: cache_mb: what may be kept in memory between queries, as `fit_memory` divides it. By default the
    driver keeps as much as it likes, and tables are held that are small: one query looks into them 40 times.
    """

    def __init__(self, index: Path, settings: Settings, *, cache_mb: int | None = None) -> None:
        self.layout = IndexLayout(index)
        self.manifest = load_manifest(self.layout)
        self.settings = settings
        self._cache_mb = cache_mb
        self._memory: ReaderMemory | None = None
        self._encoder: tuple[VectorSpace, Encoder] | None = None
        # Whoever lives long reads everything, once; a single query no more than it has time for.
        self.check = FileCheck(index, HASHED_BYTES if cache_mb is None else None)
        self.trust = open_trust(settings.trust)

    def encoder(self, space: VectorSpace) -> Encoder:
        """The query encoder of a model; it loads while the driver of the store is imported."""
        if self._encoder is None or self._encoder[0] != space:
            self._encoder = (space, _open_encoder(self.layout, space))
        return self._encoder[1]

    @cached_property
    def chunks(self) -> ChunkTables:
        """Chunk rows, vectors, full text."""
        held_mb = self._memory.chunks_mb if self._memory else SMALL_MB
        return ChunkTables(self.layout, self.manifest, session=self._session, held_mb=held_mb)

    @cached_property
    def graph(self) -> GraphStore:
        """Nodes and edges."""
        held_mb = self._memory.graph_mb if self._memory else SMALL_MB
        return open_graph_store(
            self.layout, self.manifest, self.settings, session=self._session, held_mb=held_mb
        )

    @cached_property
    def reranker(self) -> Reranker | None:
        """The cross-encoder, None where it is not installed."""
        return open_reranker()

    @cached_property
    def _session(self) -> "lancedb.Session | None":
        if self._cache_mb is None:
            return None
        from indexes.stores.lance.tables import open_cache_session

        return open_cache_session(self._memory.driver_mb if self._memory else self._cache_mb)

    def fit_memory(self, generation: int, space: VectorSpace) -> None:
        """Divide the memory anew by the size of *generation*; readers that were given out keep theirs.

        Where a size cannot be read it stays as it is: to read what is there tells why.
        """
        if self._cache_mb is None:
            return
        with suppress(SitegraphError):
            chunks, graph = self._sizes(generation, space)
            memory = share_memory(self._cache_mb, chunks=chunks, graph=graph)
            if memory != self._memory:
                self._let_go("chunks", "_session", *(() if self._is_graph_served else ("graph",)))
                self._memory = memory
                self._tell_what_is_read(memory, chunks=chunks, graph=graph)

    def _sizes(self, generation: int, space: VectorSpace) -> tuple[int, int | None]:
        """Return the bytes that chunks and graph would take in memory; None: a server has it."""
        from indexes.stores.lance.store import LanceChunkStore, LanceGraphStore

        model, folder = space.model, self.layout.lance
        chunks = LanceChunkStore(folder, dim=model.dim, table=space.table, optional=model.optional_columns)
        graph = None if self._is_graph_served else LanceGraphStore(folder).bytes_to_hold(generation)
        return chunks.bytes_to_hold(generation), graph

    @property
    def _is_graph_served(self) -> bool:
        return self.manifest.graph == "neo4j"

    def _tell_what_is_read(self, memory: ReaderMemory, *, chunks: int, graph: int | None) -> None:
        needed = {"chunks": chunks and not memory.chunks_mb, "graph": graph and not memory.graph_mb}
        if left := [name for name, is_read in needed.items() if is_read]:
            _log.warning(
                "%s of %s do not fit in a cache of %d MB and are read for each question; "
                "SITEGRAPH_READER_CACHE_MB=%d holds all",
                " and ".join(left),
                self.layout.root,
                self._cache_mb,
                cache_to_hold(chunks=chunks, graph=graph),
            )

    def apart(self) -> "OpenedStores":
        """Return the same stores opened again, which keep nothing in memory, with the same encoder."""
        other = OpenedStores(self.layout.root, self.settings)
        other._encoder = self._encoder
        return other

    def close(self) -> None:
        """Let go of connections; readers of a graph server are of no more use."""
        self._let_go("chunks", "graph", "_session")

    def _let_go(self, *names: str) -> None:
        for name in names:
            opened = self.__dict__.pop(name, None)
            if opened is not None and name != "_session":
                opened.close()


def readers_of(
    stores: OpenedStores, *, use_graph: bool = True, use_rerank: bool = False, generation: int | None = None
) -> Readers:
    """Return readers of *generation*, else of the one that is current; raises as `open_readers` does."""
    if generation is None:
        readers = _read_current(stores, use_graph=use_graph)
    else:
        readers = _read_at(generation, stores, use_graph=use_graph)
    return _warned_of_rerank(readers) if use_rerank and readers.reranker is None else readers


def _read_current(stores: OpenedStores, *, use_graph: bool) -> Readers:
    generation = read_current(stores.layout.root)
    try:
        return _read_at(generation, stores, use_graph=use_graph)
    except (StoreUnavailable, DamageFound):
        current = read_current(stores.layout.root)
        if current == generation:
            raise
        return _read_at(current, stores, use_graph=use_graph)


def _warned_of_rerank(readers: Readers) -> Readers:
    try:
        locate_reranker()
    except ConfigError as error:
        warning = f"answering without the cross-encoder: {error}"
        return replace(readers, warnings=(*readers.warnings, warning))
    return readers


def open_graph_store(
    layout: IndexLayout,
    manifest: IndexManifest,
    settings: Settings,
    *,
    session: "lancedb.Session | None" = None,
    held_mb: int = 0,
) -> GraphStore:
    """Open the graph store that the manifest names; a server is reached at its first use.

    Args: held_mb: memory that each of its readers may keep edges in; what a server has stays there.
    Raises: ConfigError: settings do not say where Neo4j is.
    """
    if manifest.graph == "neo4j":
        return _neo4j(manifest, settings)
    from indexes.stores.lance.store import LanceGraphStore

    return LanceGraphStore(layout.lance, session=session, held_mb=held_mb)


def open_authority_store(layout: IndexLayout) -> AuthorityStore:
    """Open what is known of documents by their links: files in the index folder, wherever the graph is."""
    from indexes.stores.authority import FileAuthorityStore

    return FileAuthorityStore(layout.authority)


def open_raw_store(folder: Path, manifest: IndexManifest, *, patience: int = PATIENCE) -> RawStore:
    """Open what an index keeps by hash in *folder*: there, or under its name where `raw` of the index leads.

    Args: patience: seconds that a request to a bucket where `raw` leads may take, repetitions included.
    Raises: ConfigError: no URL of object storage, or its driver is missing.
    """
    if manifest.raw == FILES:
        return open_own_store(folder)
    url = f"{manifest.raw.rstrip('/')}/{manifest.index_id}/{folder.name}"
    return open_object_store(url, patience=patience)


def open_object_store(url: str, *, patience: int = PATIENCE) -> RawStore:
    """Open what is kept by hash under a URL of object storage; raises as `open_raw_store` does."""
    return open_own_store(object_place(url, patience=patience, subject=RAW_URL, to_check=RAW_URL))


def open_shared_vectors(
    layout: IndexLayout, manifest: IndexManifest, *, model_key: str, token_dim: int, patience: int = PATIENCE
) -> "SharedVectorCache":
    """Open the vectors by text that processes without a common disk share, beside the raw bytes.

    Raises: ConfigError: no URL of object storage, or its driver is missing.
    """
    from indexes.embed.shared_cache import SharedVectorCache

    keys = open_raw_store(layout.shared_vector_keys, manifest, patience=patience)
    vectors = open_raw_store(layout.shared_vectors, manifest, patience=patience)
    return SharedVectorCache(keys, vectors, model_key=model_key, token_dim=token_dim)


def open_own_store(folder: Path) -> RawStore:
    """Open what an index keeps by hash with the rest of it, in a folder or in a bucket."""
    from indexes.stores.raw import FileRawStore

    return FileRawStore(folder)


def create_stores(layout: IndexLayout, manifest: IndexManifest, settings: Settings) -> None:
    """Make empty stores for a new index; harmless to repeat.

    Raises: ConfigError: settings do not say where Neo4j is, or a URL of object storage is none;
    StoreUnavailable: one of them is not there.
    """
    from indexes.stores.lance.store import LanceChunkStore, LanceGraphStore

    if manifest.raw != FILES or is_in_bucket(layout.root):
        _try_out(open_raw_store(layout.raw, manifest))
    if manifest.graph == "neo4j":
        _neo4j(manifest, settings).create()
    else:
        LanceGraphStore.create(layout.lance)
    LanceChunkStore.create(layout.lance, dim=manifest.model.dim, optional=manifest.model.optional_columns)


def _try_out(raw: RawStore) -> None:
    """Read, write, list and delete once, so that a missing right is known before anything is crawled."""
    probe = raw.put(b"")
    next(raw.hashes(), None)
    raw.drop(probe)


def _neo4j(manifest: IndexManifest, settings: Neo4jSettings) -> "Neo4jGraphStore":
    from indexes.stores.neo4j_.store import Neo4jGraphStore

    if settings.neo4j_uri is None:
        raise ConfigError(
            "is not set, and the graph of this index is in Neo4j; set it, SITEGRAPH_NEO4J_USER and "
            "SITEGRAPH_NEO4J_PASSWORD",
            subject="SITEGRAPH_NEO4J_URI",
        )
    return Neo4jGraphStore(
        settings.neo4j_uri,
        settings.neo4j_user,
        settings.neo4j_password or "",
        index_id=manifest.index_id,
        embeddings=settings.neo4j_embeddings,
    )


def _open_encoder(layout: IndexLayout, space: VectorSpace) -> OnnxEncoder:
    """Open the encoder; its runtime and weights load while the driver of the store is imported."""
    folder = layout.root / space.encoder
    encoder = OnnxEncoder(folder)
    if (encoder.model_sha256, encoder.dim) != (space.model.sha256, space.model.dim):
        raise SchemaMismatch(
            f"holds an encoder of another model than the index was built with ({space.model.name}); "
            f"delete the folder, then {remedy(layout.root)}",
            subject=str(folder),
        )
    encoder.load_in_background()
    return encoder


def _require_whole(stores: OpenedStores, described: GenerationManifest) -> None:
    """Compare what a generation was published with to what is there.

    Raises: DamageFound: names the first file that is lost or differs.
    """
    root = stores.layout.root
    if not is_repeated(stores.manifest, described.index):
        raise DamageFound(f"is damaged; {remedy(root)}", subject=str(stores.layout.manifest))
    for path, what in stores.check.damaged(described.files):
        raise DamageFound(f"{what}; {remedy(root)}", subject=str(root / path))


def _require_signed(stores: OpenedStores, generation: int) -> None:
    """Raise GuardRefused where trust is asked for, and nobody trusted signed what is read."""
    if stores.trust is None or not generation:
        return
    path = stores.layout.generation(generation)
    signature = read_signature(stores.layout, generation)
    stores.trust.require(path.read_bytes(), signature, subject=str(path))
    # `encoder.json` has the hashes of the others, which are compared when they are loaded.
    stamps = load_generation(stores.layout, generation).encoder.items()
    own = {name: stamp for name, stamp in stamps if name.endswith(f"/{ENCODER_JSON}")}
    for name, what in stores.check.damaged(own):
        raise DamageFound(f"{what}; {remedy(stores.layout.root)}", subject=str(stores.layout.root / name))


def _read_at(generation: int, stores: OpenedStores, *, use_graph: bool) -> Readers:
    described = load_generation(stores.layout, generation)
    _require_signed(stores, generation)
    space = described.space or VectorSpace(model=stores.manifest.model)
    _require_whole(stores, described)
    encoder = stores.encoder(space)
    stores.fit_memory(generation, space)
    stores.chunks.declare(
        generation, space
    )  # whatever is pruned meanwhile, encoder and vectors are of one model
    chunks = stores.chunks.at(generation)
    graph, warning = None, None
    if use_graph:
        try:
            graph = stores.graph.at(generation)
        except (StoreUnavailable, ConfigError) as error:
            warning = f"answering without the graph: {error}"
    return Readers(
        index=stores.layout.root,
        manifest=stores.manifest,
        generation=generation,
        as_of=described.as_of,
        chunks=chunks,
        graph=graph,
        authority=open_authority_store(stores.layout).at(generation),
        encoder=encoder,
        reranker=stores.reranker,
        degraded=("graph",) if warning else (),
        warnings=(warning,) if warning else (),
        weights=load_weights(stores.layout.root),
        graph_boost=stores.settings.graph_boost,
        families=Families(described.families, chunks),
    )
