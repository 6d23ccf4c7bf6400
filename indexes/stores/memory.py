"""Stores in dictionaries: for tests and small, short-lived indexes. They keep every promise of the ports."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from indexes.digests import chunk_sha256, edge_sha256, node_sha256
from indexes.filters import check_filters, passes
from indexes.ports import ChunkReader, ChunkVectors, StoreState, TokenVectors, Vector, no_tokens
from indexes.stores.bm25 import bm25, exact_terms, words
from indexes.stores.snapshots import Row, Rows, Snapshots, StagedRows, damaged, hashes, state
from indexes.vectors import check_vectors
from schemas.edges import Edge, EdgeKind
from schemas.errors import DamageFound, FilterError, SchemaMismatch
from schemas.evidence import Condition, Hit, SearchField
from schemas.families import Edition, one_of_each
from schemas.nodes import Chunk, Node, kind_of

ChunkRow = tuple[Chunk, ChunkVectors]


class MemoryChunkReader:
    """A ChunkReader over frozen rows."""

    def __init__(self, rows: Rows[ChunkRow], dim: int) -> None:
        self._rows = rows
        self._dim = dim

    def get(self, ids: Collection[str]) -> tuple[Chunk, ...]:
        """Chunks by id, in id order."""
        return tuple(self._rows[key].value[0] for key in sorted(set(ids)) if key in self._rows)

    def of_documents(self, docs: Collection[str]) -> tuple[Chunk, ...]:
        """All chunks of the documents, ordered by (doc, ordinal, id)."""
        found = (chunk for chunk in self._chunks() if chunk.doc in docs)
        return tuple(sorted(found, key=lambda chunk: (chunk.doc, chunk.ordinal, chunk.id)))

    def documents_containing(self, phrases: Collection[str]) -> tuple[str, ...]:
        """Documents with a chunk whose text contains one of the phrases, in id order."""
        found = {chunk.doc for chunk in self._chunks() if any(phrase in chunk.text for phrase in phrases)}
        return tuple(sorted(found))

    def search_text(
        self, field: SearchField, text: str, *, top_k: int, filters: Collection[Condition] = ()
    ) -> tuple[Hit, ...]:
        """BM25 without stemming, or exact terms over CODES."""
        check_filters(filters)
        if field is SearchField.CAPTIONS:
            raise FilterError("this field has no full text; search it by vector", subject=field)
        cut = exact_terms if field is SearchField.CODES else words
        texts = {chunk.id: cut(_searched(field, chunk)) for chunk in self._chunks()}
        return self._best(bm25(cut(text), texts), top_k, filters)

    def search_vector(
        self, field: SearchField, vector: Vector, *, top_k: int, filters: Collection[Condition] = ()
    ) -> tuple[Hit, ...]:
        """Cosine similarity, exact; best of several."""
        check_filters(filters)
        if field is SearchField.CODES:
            raise FilterError("this field has no vectors; search it as text", subject=field)
        if vector.shape != (self._dim,):
            message = f"the index holds vectors of {self._dim}, the query has shape {vector.shape}"
            raise SchemaMismatch(message, subject="chunks")
        unit = vector / np.linalg.norm(vector)
        scores = {
            key: float((stored.reshape(-1, self._dim) @ unit).max())
            for key, row in self._rows.items()
            if (stored := getattr(row.value[1], field)).size
        }
        return self._best(scores, top_k, filters)

    def scan(self, *, source: str | None = None) -> Iterator[Chunk]:
        """All chunks, or one source's, in id order."""
        return (chunk for chunk in self._chunks() if source in (None, chunk.source))

    def vectors(self, ids: Collection[str]) -> Mapping[str, ChunkVectors]:
        """Stored vectors by chunk id."""
        found = {key: self._rows[key].value[1] for key in ids if key in self._rows}
        return {key: replace(vectors, tokens=no_tokens()) for key, vectors in found.items()}

    def token_vectors(self, ids: Collection[str]) -> Mapping[str, TokenVectors]:
        """Pooled token vectors by chunk id."""
        found = {key: self._rows[key].value[1].tokens for key in ids if key in self._rows}
        return {key: tokens for key, tokens in found.items() if tokens.size}

    def text_vectors(self, ids: Collection[str] | None = None) -> Iterator[tuple[tuple[str, ...], Vector]]:
        """All text vectors, or those of *ids*, at once."""
        found = tuple(self._rows if ids is None else self._rows.keys() & set(ids))
        if found:
            yield found, np.stack([self._rows[id_].value[1].text for id_ in found])

    def texts(self) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        """All texts at once."""
        chunks = [row.value[0] for row in self._rows.values()]
        if chunks:
            yield tuple(chunk.doc for chunk in chunks), tuple(chunk.text for chunk in chunks)

    def editions(self, sources: Collection[str]) -> tuple[Edition, ...]:
        """The documents of *sources* that have a version, in id order."""
        return one_of_each(
            Edition(chunk.doc, chunk.source, chunk.version, chunk.url, chunk.file_path)
            for chunk in self._chunks()
            if chunk.source in sources and chunk.version is not None
        )

    def row_hashes(self, ids: Collection[str] | None = None) -> Mapping[str, str]:
        """`row_sha256` as stored, by chunk id."""
        found = hashes(self._rows)
        return found if ids is None else {id_: found[id_] for id_ in ids if id_ in found}

    def damaged_rows(self) -> tuple[str, ...]:
        """Ids whose row no longer matches its hash, in id order."""
        return tuple(damaged(self._rows, lambda row: chunk_sha256(*row)))

    def state(self) -> StoreState:
        """Counts per document kind, and the digest."""
        return state(self._rows)

    def _chunks(self) -> Iterator[Chunk]:
        return (self._rows[key].value[0] for key in sorted(self._rows))

    def _best(
        self, scores: Mapping[str, float], top_k: int, filters: Collection[Condition]
    ) -> tuple[Hit, ...]:
        kept = {chunk.id: chunk for chunk in self._chunks() if passes(chunk, filters)}
        hits = [
            Hit(chunk_id=key, doc=kept[key].doc, score=round(score, 6))
            for key, score in scores.items()
            if key in kept
        ]
        return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[: max(top_k, 0)])


class MemoryChunkWriter:
    """A ChunkWriter."""

    def __init__(self, snapshots: Snapshots[ChunkRow], dim: int) -> None:
        self._dim = dim
        self._staged = StagedRows(snapshots)

    def stage(self, generation: int, *, base: int) -> None:
        """Make the rows equal to *base*, undoing whatever an abandoned generation left."""
        self._staged.stage(generation, base=base)

    def apply(self, upserts: Iterable[ChunkRow], deletes: Collection[str]) -> None:
        """Upsert rows by id and delete ids."""
        self._staged.apply((self._row(*item) for item in upserts), deletes)

    def finish(self, generation: int, *, before: StoreState | None = None) -> StoreState:
        """Name the staged rows *generation* for readers and give what they are."""
        return self._staged.finish(generation, before=before)

    def abort(self, generation: int, *, base: int) -> None:
        """Leave no trace of the staged generation."""
        self._staged.stage(generation, base=base)

    def prune(self, *, keep: Collection[int]) -> None:
        """Forget generations other than *keep*."""
        self._staged.prune(keep=keep)

    def maintain(self, generation: int, *, fence: Callable[[], None]) -> None:
        """Nothing is out of order in memory."""

    def _row(self, chunk: Chunk, vectors: ChunkVectors) -> Row[ChunkRow]:
        check_vectors(chunk.id, vectors, dim=self._dim)
        sha256 = chunk_sha256(chunk, vectors)
        return Row(id=chunk.id, kind=chunk.kind, sha256=sha256, value=(chunk, vectors))


class MemoryChunkStore:
    """A ChunkStore that lives as long as the object."""

    def __init__(self, *, dim: int) -> None:
        self._dim = dim
        self._snapshots: Snapshots[ChunkRow] = Snapshots("chunks")

    def at(self, generation: int) -> MemoryChunkReader:
        """A reader pinned to *generation*."""
        return MemoryChunkReader(self._snapshots.at(generation), self._dim)

    def writer(self) -> MemoryChunkWriter:
        """The writer."""
        return MemoryChunkWriter(self._snapshots, self._dim)

    def close(self) -> None:
        """Nothing to let go of."""


class MemoryGraphReader:
    """A GraphReader over frozen rows."""

    def __init__(self, nodes: Rows[Node], edges: Rows[Edge]) -> None:
        self._nodes = nodes
        self._edges = edges

    def nodes(self, ids: Collection[str]) -> tuple[Node, ...]:
        """Nodes by id, in id order."""
        return tuple(self._nodes[key].value for key in sorted(set(ids)) if key in self._nodes)

    def ids_between(self, low: str, high: str, *, limit: int) -> tuple[str, ...]:
        """The first node ids from *low* up to *high*, in id order."""
        return tuple(sorted(key for key in self._nodes if low <= key < high)[:limit])

    def nodes_of(self, docs: Collection[str]) -> tuple[Node, ...]:
        """All nodes of the documents, in id order."""
        return tuple(node for node in self.scan_nodes() if node.doc in docs)

    def edges_of(self, docs: Collection[str]) -> tuple[Edge, ...]:
        """All edges that the documents state, in id order."""
        return tuple(edge for edge in self.scan_edges() if edge.doc in docs)

    def edges_from(
        self, ids: Collection[str], *, kinds: Collection[EdgeKind] | None = None
    ) -> tuple[Edge, ...]:
        """Edges leaving *ids*, ordered by (src, kind, dst, id)."""
        found = (edge for edge in self._of_kinds(kinds) if edge.src in ids)
        return tuple(sorted(found, key=lambda edge: (edge.src, edge.kind, edge.dst, edge.id)))

    def edges_to(
        self, ids: Collection[str], *, kinds: Collection[EdgeKind] | None = None
    ) -> tuple[Edge, ...]:
        """Edges entering *ids*, ordered by (dst, kind, src, id)."""
        found = (edge for edge in self._of_kinds(kinds) if edge.dst in ids)
        return tuple(sorted(found, key=lambda edge: (edge.dst, edge.kind, edge.src, edge.id)))

    def scan_nodes(self, *, source: str | None = None) -> Iterator[Node]:
        """All nodes, or one source's, in id order."""
        nodes = (self._nodes[key].value for key in sorted(self._nodes))
        return (node for node in nodes if source in (None, node.source))

    def scan_edges(
        self, *, source: str | None = None, kinds: Collection[EdgeKind] | None = None
    ) -> Iterator[Edge]:
        """All edges, or those of one source or of some kinds, in id order."""
        edges = (self._edges[key].value for key in sorted(self._edges))
        ours = (edge for edge in edges if source in (None, edge.source))
        return (edge for edge in ours if kinds is None or edge.kind in kinds)

    def row_hashes(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """`row_sha256` as stored, by node id and by edge id."""
        return hashes(self._nodes), hashes(self._edges)

    def damaged_rows(self) -> tuple[str, ...]:
        """Ids of nodes and edges whose row no longer matches its hash, in id order."""
        return tuple(sorted(damaged(self._nodes, node_sha256) + damaged(self._edges, edge_sha256)))

    def state(self) -> tuple[StoreState, StoreState]:
        """Counts per kind and digests of nodes and of edges."""
        return state(self._nodes), state(self._edges)

    def _of_kinds(self, kinds: Collection[EdgeKind] | None) -> Iterator[Edge]:
        return self.scan_edges(kinds=kinds)


class MemoryGraphWriter:
    """A GraphWriter."""

    def __init__(self, nodes: Snapshots[Node], edges: Snapshots[Edge]) -> None:
        self._nodes = StagedRows(nodes)
        self._edges = StagedRows(edges)

    def stage(self, generation: int, *, base: int) -> None:
        """Make nodes and edges equal to *base*, undoing whatever an abandoned generation left."""
        self._nodes.stage(generation, base=base)
        self._edges.stage(generation, base=base)

    def apply_nodes(self, upserts: Iterable[Node], deletes: Collection[str]) -> None:
        """Upsert nodes by id and delete ids."""
        self._nodes.apply(map(_node_row, upserts), deletes)

    def apply_edges(self, upserts: Iterable[Edge], deletes: Collection[str]) -> None:
        """Upsert edges by id and delete ids.

        Raises: DamageFound: an end of an upserted edge is no node; nothing is written.
        """
        self._edges.apply(map(self._edge_row, upserts), deletes)

    def finish(
        self, generation: int, *, before: tuple[StoreState, StoreState] | None = None
    ) -> tuple[StoreState, StoreState]:
        """Name the staged rows *generation* for readers; give what nodes and edges contain."""
        nodes, edges = before or (None, None)
        return self._nodes.finish(generation, before=nodes), self._edges.finish(generation, before=edges)

    def abort(self, generation: int, *, base: int) -> None:
        """Leave no trace of the staged generation."""
        self.stage(generation, base=base)

    def prune(self, *, keep: Collection[int]) -> None:
        """Forget generations other than *keep*."""
        self._nodes.prune(keep=keep)
        self._edges.prune(keep=keep)

    def maintain(self, generation: int, *, fence: Callable[[], None]) -> None:
        """Nothing is out of order in memory."""

    def _edge_row(self, edge: Edge) -> Row[Edge]:
        for end in (edge.src, edge.dst):
            if end not in self._nodes.rows:
                raise DamageFound(f"an end of {edge.id} is no node; write nodes before edges", subject=end)
        return Row(id=edge.id, kind=edge.kind.value, sha256=edge_sha256(edge), value=edge)


class MemoryGraphStore:
    """A GraphStore that lives as long as the object."""

    def __init__(self) -> None:
        self._nodes: Snapshots[Node] = Snapshots("nodes")
        self._edges: Snapshots[Edge] = Snapshots("edges")

    def at(self, generation: int) -> MemoryGraphReader:
        """A reader pinned to *generation*."""
        return MemoryGraphReader(self._nodes.at(generation), self._edges.at(generation))

    def writer(self) -> MemoryGraphWriter:
        """The writer."""
        return MemoryGraphWriter(self._nodes, self._edges)

    def show(
        self,
        generation: int,
        chunks: Callable[[], ChunkReader],
        *,
        written: Callable[[int], Collection[str] | None] = lambda _base: None,
    ) -> None:
        """Nobody looks in."""

    def shows(self, generation: int) -> bool:  # noqa: ARG002 - nobody looks in
        """Nobody looks in."""
        return True

    def close(self) -> None:
        """Nothing to let go of."""


def _node_row(node: Node) -> Row[Node]:
    return Row(id=node.id, kind=kind_of(node).value, sha256=node_sha256(node), value=node)


def _searched(field: SearchField, chunk: Chunk) -> str:
    parts = {
        SearchField.TEXT: (chunk.text,),
        SearchField.HEADING: chunk.heading_path,
        SearchField.ANCHORS: chunk.anchor_texts,
        SearchField.CODES: chunk.codes,
    }
    return " ".join(parts[field])
