"""Reads, searches and writes chunks of one generation."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache, partial
from itertools import islice
from threading import Lock

import lancedb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from lancedb.query import LanceQueryBuilder, MatchQuery
from lancedb.table import Table

from indexes.ports import ChunkVectors, StoreState, TokenVectors, Vector
from indexes.store_checks import check_chunk_vectors
from indexes.stores.lance import rows, scan
from indexes.stores.lance.held import HeldChunks
from indexes.stores.lance.rows import ChunkRow, chunks_to_batch
from indexes.stores.lance.scan import any_of, one_of, where
from indexes.stores.lance.search_indexes import (
    MOST_APPROXIMATE,
    PROBES,
    refresh_text_indexes,
    refresh_vector_indexes,
)
from indexes.stores.lance.staging import StagedTable
from indexes.stores.lance.stems import asked_stems, language_of_tag
from indexes.stores.lance.table_upkeep import Address
from indexes.stores.lance.tables import CHUNK_FIELDS, STEMS, TOKENS, chunk_schema, store_errors
from schemas.batches import batched, in_parts
from schemas.errors import FilterError, SchemaMismatch
from schemas.evidence import Condition, Filter, Hit, SearchField
from schemas.families import Edition, one_of_each
from schemas.nodes import Chunk

DECIMALS = 6
"""Digits of a score: the driver's float32 sums differ below that with the order of their terms."""

_SLACK = 16
_ORDER = [("score", "descending"), ("id", "ascending")]


def all_of(fetch: Callable[[int], pa.Table], rows: int) -> pa.Table:
    """Return all hits that a table of so many *rows* gives, ordered (-score, id)."""
    return _rounded(fetch(max(1, rows))).sort_by(_ORDER)


def best_within(found: pa.Table, docs: Collection[str] | None, top_k: int) -> tuple[Hit, ...]:
    """Return the best *top_k* of ordered hits, of some documents alone or of all."""
    if docs is not None:
        found = found.filter(pc.is_in(found.column("doc"), pa.array(sorted(docs), pa.string())))
    return _hits(found.slice(0, max(0, top_k)))


def best(fetch: Callable[[int], pa.Table], top_k: int) -> tuple[Hit, ...]:
    """Return the best *top_k* hits, ordered (-score, id).

    `fetch(limit)` gives the columns id, doc and score of the best *limit* rows, ties cut arbitrarily; so
    fetch on while the last one still ties with the cut.
    """
    if top_k <= 0:
        return ()
    limit = top_k + _SLACK
    while True:
        found = _rounded(fetch(limit)).sort_by(_ORDER)
        scores = found.column("score")
        if found.num_rows < limit or scores[-1].as_py() < scores[top_k - 1].as_py():
            return _hits(found.slice(0, top_k))
        limit *= 4


def ranked(found: pa.Table, top_k: int) -> tuple[Hit, ...]:
    """Return the best *top_k* of all rows there are, ordered (-score, id)."""
    return best_within(_rounded(found).sort_by(_ORDER), None, top_k)


def cosines(vectors: Vector, vector: Vector) -> npt.NDArray[np.float64]:
    """Return the cosine of each row with a vector; in float64, so that no order of terms shows in a score."""
    rows, query = vectors.astype(np.float64), vector.astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(query)
    similarity: npt.NDArray[np.float64] = (rows @ query) / lengths
    return similarity


def _rounded(found: pa.Table) -> pa.Table:
    # Arrow orders strings by their bytes in UTF-8, which is Python's order by code point.
    score = pc.round(found.column("score").cast(pa.float64()), DECIMALS)
    return pa.table({"id": found.column("id"), "doc": found.column("doc"), "score": score})


def _hits(found: pa.Table) -> tuple[Hit, ...]:
    ids, docs, scores = (found.column(name).to_pylist() for name in ("id", "doc", "score"))
    return tuple(map(Hit._make, zip(ids, docs, [round(score, DECIMALS) for score in scores], strict=True)))


_TEXT_COLUMNS = {
    SearchField.TEXT: "text",
    SearchField.HEADING: "heading",
    SearchField.ANCHORS: "anchors",
    SearchField.CODES: "codes_text",
}
_VECTOR_COLUMNS = {
    SearchField.TEXT: "text_vector",
    SearchField.HEADING: "heading_vector",
    SearchField.ANCHORS: "anchor_vectors",
    SearchField.CAPTIONS: "caption_vectors",
}
_ALL_VECTORS = tuple(_VECTOR_COLUMNS.values())

_KEYED = ["id", "doc", "score"]
_EDITION = ["doc", "source", "version", "url", "file_path"]

ROWS_KEPT = 2000
"""A few megabytes."""
SMALL = 5_000
"""Rows up to which all that match some words are read at once: a walk asks again for those of documents."""
PHRASES_AT_ONCE = 100
"""A condition of so many phrases reads the texts once."""


class LanceChunkReader:
    """Keeps the port ChunkReader over one version of the table `chunks`; to open it costs milliseconds.

    Args: held: what of the table is in memory; answers do not depend on it.
    """

    def __init__(self, table: Table, dim: int, *, held: HeldChunks | None = None) -> None:
        self._table = table
        self._dim = dim
        self._held = held
        self._rows: dict[str, Chunk] = {}
        self._matches = lru_cache(8)(self._match_all)
        self._lock = Lock()

    def get(self, ids: Collection[str]) -> tuple[Chunk, ...]:
        wanted = sorted(set(ids))
        with self._lock:
            known = {key: self._rows[key] for key in wanted if key in self._rows}
        missing = [key for key in wanted if key not in known]
        read = {chunk.id: chunk for chunk in self._read("id", missing)}
        self._remember(read)
        return tuple(sorted((*known.values(), *read.values()), key=lambda chunk: chunk.id))

    def of_documents(self, docs: Collection[str]) -> tuple[Chunk, ...]:
        found = self._read("doc", docs)
        return tuple(sorted(found, key=lambda chunk: (chunk.doc, chunk.ordinal, chunk.id)))

    def documents_containing(self, phrases: Collection[str]) -> tuple[str, ...]:
        looked_up = scan.choose_lookups(phrases, self._table)
        found = scan.documents_with(self._table, looked_up)
        for page in in_parts({*phrases} - looked_up, PHRASES_AT_ONCE):
            found.update(scan.read(self._table, any_of("text", page), ["doc"]).column("doc").to_pylist())
        return tuple(sorted(found))

    def search_text(
        self, field: SearchField, text: str, *, top_k: int, filters: Collection[Condition] = ()
    ) -> tuple[Hit, ...]:
        """BM25, or exact terms over CODES; *text* goes in as terms, never as query syntax."""
        if field not in _TEXT_COLUMNS:
            raise FilterError("this field has no full text; search it by vector", subject=field)
        column = _TEXT_COLUMNS[field]
        if self._languages and field is not SearchField.CODES:
            column = STEMS if field is SearchField.TEXT else column
            text = asked_stems(text, self._languages)
        if self._count > SMALL:
            return best(partial(self._match, column, text, where(filters)), top_k)
        of_docs = [one for one in filters if isinstance(one, Filter) and one.field == "doc"]
        others = where([one for one in filters if one not in of_docs])
        docs = set[str].intersection(*(set(one.values) for one in of_docs)) if of_docs else None
        return best_within(self._matches(column, text, others), docs, top_k)

    def search_vector(
        self, field: SearchField, vector: Vector, *, top_k: int, filters: Collection[Condition] = ()
    ) -> tuple[Hit, ...]:
        """Cosine similarity; best of several where a chunk has several.

        Exact, but for searches over texts, headings and link texts without filters in a large table
        (search_indexes.py).
        """
        if field not in _VECTOR_COLUMNS:
            raise FilterError("this field has no vectors; search it as text", subject=field)
        if vector.shape != (self._dim,):
            message = f"the index holds vectors of {self._dim}, the query has shape {vector.shape}"
            raise SchemaMismatch(message, subject="chunks")
        condition = where(filters)
        if field is SearchField.CAPTIONS and not self._has_captions:
            return ()
        docs = _documents_alone(filters)
        if docs is not None and field is SearchField.TEXT:
            return ranked(self._nearness(docs, vector), top_k)
        return best(partial(self._nearest, _VECTOR_COLUMNS[field], vector, condition), top_k)

    @cached_property
    def _has_captions(self) -> bool:
        """Whether any chunk has a vector of a caption: a search for none would read every row each time."""
        with store_errors(self._table.name):
            return bool(self._table.count_rows("array_length(caption_vectors) > 0"))

    def scan(self, *, source: str | None = None) -> Iterator[Chunk]:
        condition = None if source is None else one_of("source", [source])
        return map(rows.chunk_from_row, scan.rows_in_id_order(self._table, CHUNK_FIELDS, condition))

    def vectors(self, ids: Collection[str]) -> Mapping[str, ChunkVectors]:
        tables = scan.tables_with(self._table, "id", ids, ("id", *_ALL_VECTORS))
        return {key: item for found in tables for key, item in rows.vectors_of(found, self._dim).items()}

    def token_vectors(self, ids: Collection[str]) -> Mapping[str, TokenVectors]:
        if TOKENS not in self._columns:
            return {}
        tables = scan.tables_with(self._table, "id", ids, ("id", TOKENS))
        several = (item for found in tables for item in rows.tokens_of(found, self._dim).items())
        return {key: tokens for key, tokens in several if tokens.size}

    @cached_property
    def _languages(self) -> frozenset[str]:
        """The languages of the chunks, where prose is searched by stems."""
        if STEMS not in self._columns:
            return frozenset()
        tags = (pc.unique(batch.column(0)).to_pylist() for batch in scan.batches(self._table, ["lang"]))
        return frozenset(language_of_tag(tag) for some in tags for tag in some)

    @cached_property
    def _columns(self) -> frozenset[str]:
        with store_errors(self._table.name):
            return frozenset(self._table.schema.names)

    def text_vectors(self, ids: Collection[str] | None = None) -> Iterator[tuple[tuple[str, ...], Vector]]:
        columns = ["id", _VECTOR_COLUMNS[SearchField.TEXT]]
        if ids is None:
            parts: Iterable[pa.RecordBatch] = scan.batches(self._table, columns)
        else:
            tables = scan.tables_with(self._table, "id", ids, columns)
            parts = (batch for found in tables for batch in found.to_batches())
        for batch in parts:
            yield tuple(batch.column(0).to_pylist()), rows.vectors_in(batch.column(1), self._dim)

    def texts(self) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        for batch in scan.batches(self._table, ["doc", "text"]):
            yield tuple(batch.column(0).to_pylist()), tuple(batch.column(1).to_pylist())

    def editions(self, sources: Collection[str]) -> tuple[Edition, ...]:
        if not sources:
            return ()
        condition = f"({one_of('source', sources)}) AND version IS NOT NULL"
        found = scan.read(self._table, condition, _EDITION).group_by(_EDITION).aggregate([])
        return one_of_each(map(Edition, *(found.column(name).to_pylist() for name in _EDITION)))

    def row_hashes(self, ids: Collection[str] | None = None) -> Mapping[str, str]:
        return scan.hashes(self._table, ids)

    def damaged_rows(self) -> tuple[str, ...]:
        tables = scan.tables_in_id_order(self._table, self._table.schema.names)
        return tuple(key for found in tables for key in rows.damaged_in(found, self._dim))

    def state(self) -> StoreState:
        return scan.state(self._table)

    def _read(self, column: str, values: Collection[str]) -> Iterator[Chunk]:
        if self._held is not None:
            return map(rows.chunk_from_row, self._held.records(column, values))
        return map(rows.chunk_from_row, scan.rows_with(self._table, column, values, CHUNK_FIELDS))

    def _remember(self, read: Mapping[str, Chunk]) -> None:
        """Keep rows: a query asks for the same ones several times, and a generation never changes."""
        with self._lock:
            self._rows |= dict(islice(read.items(), ROWS_KEPT))
            for key in list(islice(self._rows, max(0, len(self._rows) - ROWS_KEPT))):
                del self._rows[key]

    def _match(self, column: str, text: str, condition: str | None, limit: int) -> pa.Table:
        with store_errors(self._table.name):
            query = self._table.search(MatchQuery(text, column, operator="OR"), query_type="fts")
            query = query.where(condition) if condition else query
            return self._keyed(query.limit(limit), "_score")

    def _match_all(self, column: str, text: str, condition: str | None) -> pa.Table:
        return all_of(partial(self._match, column, text, condition), self._count)

    @cached_property
    def _count(self) -> int:
        with store_errors(self._table.name):
            return int(self._table.count_rows())

    def _nearest(self, column: str, vector: Vector, condition: str | None, limit: int) -> pa.Table:
        with store_errors(self._table.name):
            query = self._table.search(vector.astype(np.float32), vector_column_name=column)
            query = query.distance_type("cosine").nprobes(PROBES)
            if condition or limit > MOST_APPROXIMATE:  # what a filter leaves may lie in any partition
                query = query.bypass_vector_index()
            query = query.where(condition) if condition else query
            found = self._keyed(query.limit(limit), "_distance")
        similarity = pc.subtract(1.0, found.column("score").cast(pa.float64()))
        return found.set_column(2, "score", similarity)

    def _keyed(self, query: LanceQueryBuilder, score: str) -> pa.Table:
        """Return the columns id, doc and score of what a search finds."""
        if self._held is None:
            return (
                query.select(["id", "doc", score]).to_arrow().rename_columns({score: "score"}).select(_KEYED)
            )
        found = query.select([score]).with_row_id(True).to_arrow()
        return self._held.named(found.column(scan.ROW_ID)).append_column("score", found.column(score))

    def _nearness(self, docs: Collection[str], vector: Vector) -> pa.Table:
        """Return the columns id, doc and score of all chunks of some documents."""
        if self._held is not None:
            keys, vectors = self._held.within(docs)
        else:
            pages = scan.tables_with(self._table, "doc", docs, ("id", "doc", "text_vector"))
            found = pa.concat_tables([self._empty, *pages]).combine_chunks()
            keys = found.select(["id", "doc"])
            vectors = rows.vectors_in(found.column("text_vector").combine_chunks(), self._dim)
        return keys.append_column("score", pa.array(cosines(vectors, vector)))

    @cached_property
    def _empty(self) -> pa.Table:
        names = ["id", "doc", "text_vector"]
        with store_errors(self._table.name):
            return pa.schema([self._table.schema.field(name) for name in names]).empty_table()


def _documents_alone(filters: Collection[Condition]) -> tuple[str, ...] | None:
    """The documents that filters ask for, where they ask for nothing else."""
    alone = [one.values for one in filters if isinstance(one, Filter) and one.field == "doc"]
    return alone[0] if len(alone) == len(filters) == 1 else None


BATCH_ROWS = 1000
"""Chunks turned to Arrow at once: 2 MB of vectors at 384 dimensions, several times that in Python."""


class LanceChunkWriter(StagedTable):
    """Keeps the port ChunkWriter: one commit for each `apply`, which streams its rows; none for nothing."""

    def __init__(
        self, database: lancedb.DBConnection, dim: int, *, table: str, optional: frozenset[str]
    ) -> None:
        super().__init__(database, table, chunk_schema(dim, optional), prepare=_prepare)
        self._dim, self._optional = dim, optional

    def apply(self, upserts: Iterable[tuple[Chunk, ChunkVectors]], deletes: Collection[str]) -> None:
        self.apply_batches(self._batches(upserts), deletes)

    def _batches(self, upserts: Iterable[ChunkRow]) -> Iterator[pa.RecordBatch]:
        for batch in batched(upserts, BATCH_ROWS):
            for chunk, vectors in batch:
                check_chunk_vectors(chunk.id, vectors, dim=self._dim)
            yield chunks_to_batch(batch, self._dim, self._optional)


def _prepare(table: Table, address: Address) -> None:
    refresh_text_indexes(table)
    refresh_vector_indexes(table, address)
