"""Stores in dictionaries. They keep every promise of the ports."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from indexes.digests import chunk_sha256, edge_sha256, node_sha256
from indexes.embed.cache import TextVectors
from indexes.ports import ChunkReader, ChunkVectors, StoreState, TokenVectors, Vector, no_tokens
from indexes.store_checks import check_chunk_vectors, check_filters, passes
from indexes.stores.raw import missing
from schemas.edges import Edge, EdgeKind
from schemas.errors import DamageFound, FilterError, SchemaMismatch
from schemas.evidence import Condition, Hit, SearchField
from schemas.families import Edition, one_of_each
from schemas.ids import sha256_hex
from schemas.nodes import Chunk, Node, kind_of
from tests.fakes.snapshots import Row, Rows, Snapshots, StagedRows, damaged, hashes, state

_K1, _B = 1.2, 0.75
"""Robertson and Zaragoza 2009, section 3.4; the values that Lucene and LanceDB use."""

_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """Cut prose into lower-case words without accents; `_` and punctuation separate."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return _WORD.findall(plain.lower())


def exact_terms(text: str) -> list[str]:
    """Cut codes at white space only, so that `max_wal_size` stays one term."""
    return text.lower().split()


def bm25(query: list[str], documents: Mapping[str, list[str]]) -> dict[str, float]:
    """Score the documents that contain a term of the query, by id; all documents count for rarity."""
    counted = {key: Counter(terms) for key, terms in documents.items()}
    mean = sum(map(len, documents.values())) / max(len(documents), 1)
    scores: dict[str, float] = {}
    for term in dict.fromkeys(query):
        holding = [key for key, counts in counted.items() if term in counts]
        rarity = math.log(1 + (len(documents) - len(holding) + 0.5) / (len(holding) + 0.5))
        for key in holding:
            often = counted[key][term]
            length = 1 - _B + _B * len(documents[key]) / mean
            scores[key] = scores.get(key, 0.0) + rarity * often * (_K1 + 1) / (often + _K1 * length)
    return scores


ChunkRow = tuple[Chunk, ChunkVectors]


class MemoryChunkReader:
    """A ChunkReader over frozen rows."""

    def __init__(self, rows: Rows[ChunkRow], dim: int) -> None:
        self._rows = rows
        self._dim = dim

    def get(self, ids: Collection[str]) -> tuple[Chunk, ...]:
        return tuple(self._rows[key].value[0] for key in sorted(set(ids)) if key in self._rows)

    def of_documents(self, docs: Collection[str]) -> tuple[Chunk, ...]:
        found = (chunk for chunk in self._chunks() if chunk.doc in docs)
        return tuple(sorted(found, key=lambda chunk: (chunk.doc, chunk.ordinal, chunk.id)))

    def documents_containing(self, phrases: Collection[str]) -> tuple[str, ...]:
        found = {chunk.doc for chunk in self._chunks() if any(phrase in chunk.text for phrase in phrases)}
        return tuple(sorted(found))

    def search_text(
        self, field: SearchField, text: str, *, top_k: int, filters: Collection[Condition] = ()
    ) -> tuple[Hit, ...]:
        check_filters(filters)
        if field is SearchField.CAPTIONS:
            raise FilterError("this field has no full text; search it by vector", subject=field)
        cut = exact_terms if field is SearchField.CODES else words
        texts = {chunk.id: cut(_searched(field, chunk)) for chunk in self._chunks()}
        return self._best(bm25(cut(text), texts), top_k, filters)

    def search_vector(
        self, field: SearchField, vector: Vector, *, top_k: int, filters: Collection[Condition] = ()
    ) -> tuple[Hit, ...]:
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
        return (chunk for chunk in self._chunks() if source in (None, chunk.source))

    def vectors(self, ids: Collection[str]) -> Mapping[str, ChunkVectors]:
        found = {key: self._rows[key].value[1] for key in ids if key in self._rows}
        return {key: replace(vectors, tokens=no_tokens()) for key, vectors in found.items()}

    def token_vectors(self, ids: Collection[str]) -> Mapping[str, TokenVectors]:
        found = {key: self._rows[key].value[1].tokens for key in ids if key in self._rows}
        return {key: tokens for key, tokens in found.items() if tokens.size}

    def text_vectors(self, ids: Collection[str] | None = None) -> Iterator[tuple[tuple[str, ...], Vector]]:
        found = tuple(self._rows if ids is None else self._rows.keys() & set(ids))
        if found:
            yield found, np.stack([self._rows[id_].value[1].text for id_ in found])

    def texts(self) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        chunks = [row.value[0] for row in self._rows.values()]
        if chunks:
            yield tuple(chunk.doc for chunk in chunks), tuple(chunk.text for chunk in chunks)

    def editions(self, sources: Collection[str]) -> tuple[Edition, ...]:
        return one_of_each(
            Edition(chunk.doc, chunk.source, chunk.version, chunk.url, chunk.file_path)
            for chunk in self._chunks()
            if chunk.source in sources and chunk.version is not None
        )

    def row_hashes(self, ids: Collection[str] | None = None) -> Mapping[str, str]:
        found = hashes(self._rows)
        return found if ids is None else {id_: found[id_] for id_ in ids if id_ in found}

    def damaged_rows(self) -> tuple[str, ...]:
        return tuple(damaged(self._rows, lambda row: chunk_sha256(*row)))

    def state(self) -> StoreState:
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
        self._staged.stage(generation, base=base)

    def apply(self, upserts: Iterable[ChunkRow], deletes: Collection[str]) -> None:
        self._staged.apply((self._row(*item) for item in upserts), deletes)

    def finish(self, generation: int, *, before: StoreState | None = None) -> StoreState:
        return self._staged.finish(generation, before=before)

    def abort(self, generation: int, *, base: int) -> None:
        self._staged.stage(generation, base=base)

    def prune(self, *, keep: Collection[int]) -> None:
        self._staged.prune(keep=keep)

    def maintain(self, generation: int, *, fence: Callable[[], None]) -> None:
        """Nothing is out of order in memory."""

    def _row(self, chunk: Chunk, vectors: ChunkVectors) -> Row[ChunkRow]:
        check_chunk_vectors(chunk.id, vectors, dim=self._dim)
        sha256 = chunk_sha256(chunk, vectors)
        return Row(id=chunk.id, kind=chunk.kind, sha256=sha256, value=(chunk, vectors))


class MemoryChunkStore:
    """A ChunkStore that lives as long as the object."""

    def __init__(self, *, dim: int) -> None:
        self._dim = dim
        self._snapshots: Snapshots[ChunkRow] = Snapshots("chunks")

    def at(self, generation: int) -> MemoryChunkReader:
        return MemoryChunkReader(self._snapshots.at(generation), self._dim)

    def writer(self) -> MemoryChunkWriter:
        return MemoryChunkWriter(self._snapshots, self._dim)

    def close(self) -> None:
        """Nothing to let go of."""


class MemoryGraphReader:
    """A GraphReader over frozen rows."""

    def __init__(self, nodes: Rows[Node], edges: Rows[Edge]) -> None:
        self._nodes = nodes
        self._edges = edges

    def nodes(self, ids: Collection[str]) -> tuple[Node, ...]:
        return tuple(self._nodes[key].value for key in sorted(set(ids)) if key in self._nodes)

    def ids_between(self, low: str, high: str, *, limit: int) -> tuple[str, ...]:
        return tuple(sorted(key for key in self._nodes if low <= key < high)[:limit])

    def nodes_of(self, docs: Collection[str]) -> tuple[Node, ...]:
        return tuple(node for node in self.scan_nodes() if node.doc in docs)

    def edges_of(self, docs: Collection[str]) -> tuple[Edge, ...]:
        return tuple(edge for edge in self.scan_edges() if edge.doc in docs)

    def edges_from(
        self, ids: Collection[str], *, kinds: Collection[EdgeKind] | None = None
    ) -> tuple[Edge, ...]:
        found = (edge for edge in self._of_kinds(kinds) if edge.src in ids)
        return tuple(sorted(found, key=lambda edge: (edge.src, edge.kind, edge.dst, edge.id)))

    def edges_to(
        self, ids: Collection[str], *, kinds: Collection[EdgeKind] | None = None
    ) -> tuple[Edge, ...]:
        found = (edge for edge in self._of_kinds(kinds) if edge.dst in ids)
        return tuple(sorted(found, key=lambda edge: (edge.dst, edge.kind, edge.src, edge.id)))

    def scan_nodes(self, *, source: str | None = None) -> Iterator[Node]:
        nodes = (self._nodes[key].value for key in sorted(self._nodes))
        return (node for node in nodes if source in (None, node.source))

    def scan_edges(
        self, *, source: str | None = None, kinds: Collection[EdgeKind] | None = None
    ) -> Iterator[Edge]:
        edges = (self._edges[key].value for key in sorted(self._edges))
        ours = (edge for edge in edges if source in (None, edge.source))
        return (edge for edge in ours if kinds is None or edge.kind in kinds)

    def row_hashes(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        return hashes(self._nodes), hashes(self._edges)

    def damaged_rows(self) -> tuple[str, ...]:
        return tuple(sorted(damaged(self._nodes, node_sha256) + damaged(self._edges, edge_sha256)))

    def state(self) -> tuple[StoreState, StoreState]:
        return state(self._nodes), state(self._edges)

    def _of_kinds(self, kinds: Collection[EdgeKind] | None) -> Iterator[Edge]:
        return self.scan_edges(kinds=kinds)


class MemoryGraphWriter:
    """A GraphWriter."""

    def __init__(self, nodes: Snapshots[Node], edges: Snapshots[Edge]) -> None:
        self._nodes = StagedRows(nodes)
        self._edges = StagedRows(edges)

    def stage(self, generation: int, *, base: int) -> None:
        self._nodes.stage(generation, base=base)
        self._edges.stage(generation, base=base)

    def apply_nodes(self, upserts: Iterable[Node], deletes: Collection[str]) -> None:
        self._nodes.apply(map(_node_row, upserts), deletes)

    def apply_edges(self, upserts: Iterable[Edge], deletes: Collection[str]) -> None:
        self._edges.apply(map(self._edge_row, upserts), deletes)

    def finish(
        self, generation: int, *, before: tuple[StoreState, StoreState] | None = None
    ) -> tuple[StoreState, StoreState]:
        nodes, edges = before or (None, None)
        return self._nodes.finish(generation, before=nodes), self._edges.finish(generation, before=edges)

    def abort(self, generation: int, *, base: int) -> None:
        self.stage(generation, base=base)

    def prune(self, *, keep: Collection[int]) -> None:
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
        return MemoryGraphReader(self._nodes.at(generation), self._edges.at(generation))

    def writer(self) -> MemoryGraphWriter:
        return MemoryGraphWriter(self._nodes, self._edges)

    def show(
        self,
        generation: int,
        chunks: Callable[[], ChunkReader],
        *,
        written: Callable[[int], Collection[str] | None] = lambda _base: None,
    ) -> None:
        """Nobody looks in."""

    def shows(self, generation: int) -> bool:
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


class MemoryRawStore:
    """Keeps the port RawStore in a dict."""

    def __init__(self) -> None:
        self._data: dict[str, bytes] = {}
        self.has_grown = False

    def put(self, data: bytes) -> str:
        sha256 = sha256_hex(data)
        if sha256 not in self._data:
            self._data[sha256] = data
            self.has_grown = True
        return sha256

    def get(self, sha256: str) -> bytes:
        try:
            data = self._data[sha256]
        except KeyError as error:
            raise missing(sha256) from error
        return data

    def has(self, sha256: str) -> bool:
        return sha256 in self._data

    def drop(self, sha256: str) -> None:
        self._data.pop(sha256, None)

    def hashes(self) -> Iterator[str]:
        yield from sorted(self._data)

    def drop_all_but(self, named: Collection[str]) -> int:
        dropped = self._data.keys() - set(named)
        for sha256 in dropped:
            del self._data[sha256]
        return len(dropped)


class MemoryAuthorityStore:
    """Keeps the port AuthorityStore in a dict."""

    def __init__(self) -> None:
        self._values: dict[int, Mapping[str, float]] = {}

    def at(self, generation: int) -> "MemoryAuthorityReader":
        return MemoryAuthorityReader(self._values.get(generation, {}))

    def put(self, generation: int, values: Mapping[str, float]) -> None:
        self._values[generation] = dict(values)

    def prune(self, *, keep: Collection[int]) -> None:
        self._values = {number: values for number, values in self._values.items() if number in keep}


class MemoryAuthorityReader:
    """An AuthorityReader over a mapping."""

    def __init__(self, values: Mapping[str, float]) -> None:
        self._values = values

    def of(self, docs: Collection[str]) -> Mapping[str, float]:
        return {doc: self._values[doc] for doc in sorted(set(docs)) if doc in self._values}


class MemoryVectorCache(TextVectors):
    """Keeps the port VectorCache in a dict, for one run without a disk."""

    def __init__(self, *, token_dim: int = 0) -> None:
        super().__init__(model_key="memory", token_dim=token_dim)
        self._held: dict[bool, dict[bytes, bytes]] = {False: {}, True: {}}

    def _blobs(self, keys: Collection[bytes], *, tokens: bool = False) -> Iterable[tuple[bytes, bytes]]:
        held = self._held[tokens]
        return [(key, held[key]) for key in keys if key in held]

    def _keep(self, keys: Sequence[bytes], vectors: Sequence[bytes], tokens: Sequence[bytes]) -> None:
        for is_tokens, blobs in ((False, vectors), (True, tokens)):
            for key, blob in zip(keys, blobs, strict=bool(blobs)):
                self._held[is_tokens].setdefault(key, blob)
