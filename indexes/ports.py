"""The ports of the stores. Every promise here is a test in tests/contract/, run over every backend.

Readers are pinned to one generation and cannot write. Writers stage one generation at a time:
`stage`, any number of `apply`, then `finish`, or `abort` to leave no trace. All writer calls may be
repeated after a crash and give the same result. Only `CURRENT` (indexes/publish) decides what is read.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from indexes.lattice_hash import LatticeHash
from schemas.edges import Edge, EdgeKind
from schemas.evidence import Condition, Hit, SearchField
from schemas.families import Edition
from schemas.ids import canonical_json, sha256_hex
from schemas.nodes import Chunk, Node

Vector = npt.NDArray[np.float32]
TokenVectors = npt.NDArray[np.float16]
"""Of one text: (k, dim), unit length; rounded, since there are many."""


def no_tokens() -> TokenVectors:
    """What a text has where no token vectors are kept."""
    return np.zeros((0, 0), np.float16)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkVectors:
    """Vectors of one chunk, unit length, float32: (dim,), (dim,), (n, dim), (m, dim).

    `tokens` are those of the text's tokens, pooled, (k, dim), in an index that has them (late interaction).
    """

    text: Vector
    heading: Vector
    anchors: Vector
    captions: Vector
    tokens: TokenVectors = field(default_factory=no_tokens)


@dataclass(frozen=True, slots=True)
class Encoded:
    """Texts encoded in one pass: `vectors` (n, dim), and of each its pooled token vectors."""

    vectors: Vector
    tokens: tuple[TokenVectors, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreState:
    """What a store contains at one generation.

    `counts` is rows per kind; `rows` the hash of the set of their ids and `row_sha256`; `version` is the
    store's own name for this state (a LanceDB table version), None where it has none.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    rows: LatticeHash = field(default_factory=LatticeHash)
    version: int | None = None

    @property
    def digest(self) -> str:
        """Sha256 over `rows` and `counts`: equal where two stores contain the same."""
        return sha256_hex(self.rows.lanes + canonical_json(dict(self.counts)).encode())

    @property
    def total(self) -> int:
        """How many rows there are."""
        return sum(self.counts.values())


class ChunkReader(Protocol):
    """Chunks of one generation."""

    def get(self, ids: Collection[str]) -> tuple[Chunk, ...]:
        """Chunks by id, in id order; unknown ids add none."""

    def of_documents(self, docs: Collection[str]) -> tuple[Chunk, ...]:
        """All chunks of the documents, ordered by (doc, ordinal, id)."""

    def documents_containing(self, phrases: Collection[str]) -> tuple[str, ...]:
        """Documents with a chunk whose text contains one of the phrases exactly as written, in id order.

        With any characters: *phrases* are data. Where one stands only inside words, a store may miss it.
        """

    def search_text(
        self, field: SearchField, text: str, *, top_k: int, filters: Collection[Condition] = ()
    ) -> tuple[Hit, ...]:
        """BM25 over TEXT, HEADING or ANCHORS, or exact terms over CODES; order (-score, id).

        *text* is data, never query syntax. Ties at the cut are resolved by id.
        Raises: FilterError: unknown filter field.
        """

    def search_vector(
        self, field: SearchField, vector: Vector, *, top_k: int, filters: Collection[Condition] = ()
    ) -> tuple[Hit, ...]:
        """Cosine similarity over TEXT, HEADING, ANCHORS or CAPTIONS (best of several); order (-score, id).

        Chunks without a vector in that field are never found.
        Raises: FilterError: unknown filter field.
        """

    def scan(self, *, source: str | None = None) -> Iterator[Chunk]:
        """All chunks, or one source's, in id order."""

    def vectors(self, ids: Collection[str]) -> Mapping[str, ChunkVectors]:
        """Stored vectors by chunk id, without those of tokens; unknown ids add none."""

    def token_vectors(self, ids: Collection[str]) -> Mapping[str, TokenVectors]:
        """Pooled token vectors by chunk id; of chunks without any, and of unknown ids, nothing."""

    def text_vectors(self, ids: Collection[str] | None = None) -> Iterator[tuple[tuple[str, ...], Vector]]:
        """All text vectors, or those of some chunks: distinct ids, and shape (n, dim), in no order."""

    def texts(self) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        """All texts, some at a time: the document of each and what it says, in no order."""

    def editions(self, sources: Collection[str]) -> tuple[Edition, ...]:
        """The documents of *sources* that have a chunk and a version, in id order."""

    def row_hashes(self, ids: Collection[str] | None = None) -> Mapping[str, str]:
        """`row_sha256` as stored, by chunk id: of all chunks, or of those of *ids* that are there."""

    def damaged_rows(self) -> tuple[str, ...]:
        """Ids whose stored row no longer matches its `row_sha256`, in id order; reads everything."""

    def state(self) -> StoreState:
        """Counts per document kind, and the digest, read from the store."""


class GraphReader(Protocol):
    """Nodes and edges of one generation."""

    def nodes(self, ids: Collection[str]) -> tuple[Node, ...]:
        """Nodes by id, in id order; unknown ids add none."""

    def ids_between(self, low: str, high: str, *, limit: int) -> tuple[str, ...]:
        """The first *limit* node ids from *low* up to, not including, *high*, in id order."""

    def nodes_of(self, docs: Collection[str]) -> tuple[Node, ...]:
        """All nodes whose `doc` is one of *docs*, in id order."""

    def edges_of(self, docs: Collection[str]) -> tuple[Edge, ...]:
        """All edges stated by one of *docs* (`edge.doc`), in id order."""

    def edges_from(
        self, ids: Collection[str], *, kinds: Collection[EdgeKind] | None = None
    ) -> tuple[Edge, ...]:
        """Edges leaving *ids*, ordered by (src, kind, dst, id); an unknown id adds none."""

    def edges_to(
        self, ids: Collection[str], *, kinds: Collection[EdgeKind] | None = None
    ) -> tuple[Edge, ...]:
        """Edges entering *ids*, ordered by (dst, kind, src, id); an unknown id adds none."""

    def scan_nodes(self, *, source: str | None = None) -> Iterator[Node]:
        """All nodes, or one source's, in id order."""

    def scan_edges(
        self, *, source: str | None = None, kinds: Collection[EdgeKind] | None = None
    ) -> Iterator[Edge]:
        """All edges, or those of one source or of some kinds, in id order."""

    def row_hashes(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """`row_sha256` as stored, by node id and by edge id."""

    def damaged_rows(self) -> tuple[str, ...]:
        """Ids of nodes and edges whose stored row no longer matches its `row_sha256`, in id order."""

    def state(self) -> tuple[StoreState, StoreState]:
        """Counts per kind and digests of nodes and of edges, read from the store."""


class StoreWriter(Protocol):
    """Stages rows for one generation. One writer at a time, by lease."""

    def stage(self, generation: int, *, base: int) -> None:
        """Make the store equal to *base* for writing, undoing whatever an abandoned generation left."""

    def abort(self, generation: int, *, base: int) -> None:
        """Leave no trace of the staged generation."""

    def prune(self, *, keep: Collection[int]) -> None:
        """Drop what only generations other than *keep* need; *keep* contains the newest one."""

    def maintain(self, generation: int, *, fence: Callable[[], None]) -> None:
        """Put the store in order for what will be built on *generation*, the current one.

        No reader of any generation sees a difference. *fence* is called before each step is kept, and may
        raise; whatever was kept before stays, and the rest can be done later.
        """


class ChunkWriter(StoreWriter, Protocol):
    """Stages chunks."""

    def apply(self, upserts: Iterable[tuple[Chunk, ChunkVectors]], deletes: Collection[str]) -> None:
        """Upsert rows by id and delete ids, in as few commits as the store allows.

        Raises: SchemaMismatch: a vector is not finite, not of the index's dimension or not of unit
        length; StaleLease: somebody else wrote in between.
        """

    def finish(self, generation: int, *, before: StoreState | None = None) -> StoreState:
        """Name the staged state *generation* for readers and give what it contains.

        *before* is what the base contains: then only the rows are read that `apply` was told of, as they are
        stored now and were, and all are counted. Without it, or where many changed, all rows are read.
        Raises: DamageFound: rows are not there as they were told, or others came or went.
        """


class GraphWriter(StoreWriter, Protocol):
    """Stages nodes and edges."""

    def apply_nodes(self, upserts: Iterable[Node], deletes: Collection[str]) -> None:
        """Upsert nodes by id and delete ids.

        An id of both is there afterwards, written whatever its row was; one that is only upserted may be left
        alone where the row bears the same hash.
        """

    def apply_edges(self, upserts: Iterable[Edge], deletes: Collection[str]) -> None:
        """The same of edges; both ends of every edge must exist.

        Raises: DamageFound: an end is missing (where the store can tell).
        """

    def finish(
        self, generation: int, *, before: tuple[StoreState, StoreState] | None = None
    ) -> tuple[StoreState, StoreState]:
        """Name the staged state *generation* for readers; give what nodes and edges contain.

        *before* is what the base's contain, as for chunks.
        """


class ChunkStore(Protocol):
    """Opens readers and the writer of one chunk store."""

    def at(self, generation: int) -> ChunkReader:
        """A reader pinned to *generation*; 0 is the empty index.

        Raises: StoreUnavailable: the generation has been pruned or never was.
        """

    def writer(self) -> ChunkWriter:
        """The writer."""

    def close(self) -> None:
        """Let go of connections."""


class GraphStore(Protocol):
    """Opens readers and the writer of one graph store."""

    def at(self, generation: int) -> GraphReader:
        """A reader pinned to *generation*; 0 is the empty index.

        Raises: StoreUnavailable: the store cannot be reached, or the generation has been pruned.
        """

    def writer(self) -> GraphWriter:
        """The writer."""

    def show(
        self,
        generation: int,
        chunks: Callable[[], ChunkReader],
        *,
        written: Callable[[int], Collection[str] | None] = lambda _base: None,
    ) -> None:
        """Let people who look into the store itself see *generation*, with what its chunks say.

        Nothing happens where they see it already, or where a store has nothing for people. *chunks* gives the
        chunks of the generation; *written* gives the ids of those that it wrote on another generation, None
        where it was built on something else or where they are not known. Both are asked only where needed.
        """

    def shows(self, generation: int) -> bool:
        """Whether people who look into the store see *generation* whole; true where there is nothing to see.

        Raises: StoreUnavailable: the store cannot be reached.
        """

    def close(self) -> None:
        """Let go of connections."""


class AuthorityReader(Protocol):
    """What links and clicks say of the documents of one generation."""

    def of(self, docs: Collection[str]) -> Mapping[str, float]:
        """Authority in (0, 1] by document; one of which nothing is known is absent, and nothing fails."""


class AuthorityStore(Protocol):
    """Authority of documents by generation, apart from their rows."""

    def at(self, generation: int) -> AuthorityReader:
        """A reader of one generation; of one that was never weighed, or was pruned, it knows nothing."""

    def put(self, generation: int, values: Mapping[str, float]) -> None:
        """Keep the values of a generation, in place of any it had."""

    def prune(self, *, keep: Collection[int]) -> None:
        """Forget generations other than *keep*."""


class Encoder(Protocol):
    """Text to unit vectors."""

    @property
    def dim(self) -> int:
        """Length of a vector."""

    @property
    def model_sha256(self) -> str:
        """Hash of the model's weights; part of every cache key."""

    def encode_query(self, text: str) -> Vector:
        """One fp32 vector of shape (dim,) for a question."""

    def encode_documents(self, texts: Collection[str]) -> Vector:
        """fp32 vectors of shape (len(texts), dim), in the order given."""

    def count_tokens(self, text: str) -> int:
        """Tokens of *text* without the special ones."""


@runtime_checkable
class TokenEncoder(Encoder, Protocol):
    """An encoder that also gives the vectors of a text's tokens, for late interaction."""

    def encode_query_tokens(self, text: str) -> Vector:
        """fp32 unit vectors of a question's tokens, (n, dim), the special ones included, not pooled."""

    def encode_with_tokens(self, texts: Collection[str]) -> Encoded:
        """Encode documents as `encode_documents` does, and pool their token vectors from the same pass."""


class Reranker(Protocol):
    """Judges a passage with the question beside it."""

    def score_pairs(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """A logit per text, rounded to 4 decimals; above 0 is rather relevant than not.

        A text's logit depends on it and the query alone, never on its neighbours.
        Raises: ConfigError: the model is not the one expected.
        """


class RawStore(Protocol):
    """Content-addressed bytes."""

    @property
    def has_grown(self) -> bool:
        """Whether anything was written since the store was opened."""

    def put(self, data: bytes) -> str:
        """Keep *data* and give its sha256; what is there whole is not written again, what is damaged is."""

    def get(self, sha256: str) -> bytes:
        """Return bytes by hash.

        Raises: DamageFound: they are not there, or no longer match their hash; StoreUnavailable: the store
        cannot be asked, which says nothing about them.
        """

    def has(self, sha256: str) -> bool:
        """Whether the bytes are kept and still match their hash; reads them."""

    def drop(self, sha256: str) -> None:
        """Delete the bytes; nothing happens where they are not kept."""

    def hashes(self) -> Iterator[str]:
        """Yield the hash of everything kept, in order."""

    def drop_all_but(self, named: Collection[str]) -> int:
        """Delete everything but the given hashes; give how many went.

        Only for a store that nobody else writes to meanwhile.
        """


class VectorCache(Protocol):
    """Vectors by the hash of exactly the encoded text, for one model; with token vectors, or without."""

    def missing(self, texts: Iterable[str]) -> tuple[str, ...]:
        """The distinct texts that have no vector yet, or no token vectors where they are kept, sorted."""

    def put(self, texts: Collection[str], vectors: Vector, tokens: Sequence[TokenVectors] = ()) -> None:
        """Keep one row per text, durably, and its token vectors where they are kept."""

    def get(self, texts: Collection[str]) -> Mapping[str, Vector]:
        """Vectors by text; raises KeyError for a text without one."""

    def tokens(self, texts: Collection[str]) -> Mapping[str, TokenVectors]:
        """Token vectors by text; raises KeyError for a text without any."""
