"""Reads chunks of one generation."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property, partial
from itertools import islice
from threading import Lock

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from lancedb.query import LanceQueryBuilder, MatchQuery
from lancedb.table import Table

from indexes.ports import ChunkVectors, StoreState, TokenVectors, Vector
from indexes.stores.lance import postings, rows, scan
from indexes.stores.lance.filters import any_of, one_of, where
from indexes.stores.lance.held import HeldChunks
from indexes.stores.lance.search import best, cosines, ranked
from indexes.stores.lance.tables import CHUNK_FIELDS, TOKENS, store_errors
from indexes.stores.lance.vector_index import MOST_APPROXIMATE, PROBES
from schemas.errors import FilterError, SchemaMismatch
from schemas.evidence import Condition, Filter, Hit, SearchField
from schemas.families import Edition, one_of_each
from schemas.nodes import Chunk

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
PHRASES_AT_ONCE = 100
"""A condition of so many phrases reads the texts once."""


class LanceChunkReader:
    """A ChunkReader over one version of the table `chunks`; keep it, opening costs a few milliseconds.

    Args: held: what of the table is in memory; answers do not depend on it.
    """

    def __init__(self, table: Table, dim: int, *, held: HeldChunks | None = None) -> None:
        self._table = table
        self._dim = dim
        self._held = held
        self._rows: dict[str, Chunk] = {}
        self._lock = Lock()

    def get(self, ids: Collection[str]) -> tuple[Chunk, ...]:
        """Chunks by id, in id order."""
        wanted = sorted(set(ids))
        with self._lock:
            known = {key: self._rows[key] for key in wanted if key in self._rows}
        missing = [key for key in wanted if key not in known]
        read = {chunk.id: chunk for chunk in self._read("id", missing)}
        self._remember(read)
        return tuple(sorted((*known.values(), *read.values()), key=lambda chunk: chunk.id))

    def of_documents(self, docs: Collection[str]) -> tuple[Chunk, ...]:
        """All chunks of the documents, ordered by (doc, ordinal, id)."""
        found = self._read("doc", docs)
        return tuple(sorted(found, key=lambda chunk: (chunk.doc, chunk.ordinal, chunk.id)))

    def documents_containing(self, phrases: Collection[str]) -> tuple[str, ...]:
        """Documents with a chunk whose text contains one of the phrases, in id order."""
        looked_up = postings.choose_lookups(phrases, self._table)
        found = postings.documents_with(self._table, looked_up)
        for page in scan.pages({*phrases} - looked_up, size=PHRASES_AT_ONCE):
            found.update(scan.read(self._table, any_of("text", page), ["doc"]).column("doc").to_pylist())
        return tuple(sorted(found))

    def search_text(
        self, field: SearchField, text: str, *, top_k: int, filters: Collection[Condition] = ()
    ) -> tuple[Hit, ...]:
        """BM25, or exact terms over CODES; *text* goes in as terms, never as query syntax."""
        if field not in _TEXT_COLUMNS:
            raise FilterError("this field has no full text; search it by vector", subject=field)
        condition = where(filters)
        return best(partial(self._match, _TEXT_COLUMNS[field], text, condition), top_k)

    def search_vector(
        self, field: SearchField, vector: Vector, *, top_k: int, filters: Collection[Condition] = ()
    ) -> tuple[Hit, ...]:
        """Cosine similarity; best of several where a chunk has several.

        Exact, but for searches over texts, headings and link texts without filters in a large table
        (vector_index.py).
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
        """All chunks, or one source's, in id order, a page at a time."""
        condition = None if source is None else one_of("source", [source])
        return map(rows.chunk_from_row, scan.rows_in_id_order(self._table, CHUNK_FIELDS, condition))

    def vectors(self, ids: Collection[str]) -> Mapping[str, ChunkVectors]:
        """Stored vectors by chunk id."""
        tables = scan.tables_with(self._table, "id", ids, ("id", *_ALL_VECTORS))
        return {key: item for found in tables for key, item in rows.vectors_of(found, self._dim).items()}

    def token_vectors(self, ids: Collection[str]) -> Mapping[str, TokenVectors]:
        """Pooled token vectors by chunk id."""
        if TOKENS not in self._columns:
            return {}
        tables = scan.tables_with(self._table, "id", ids, ("id", TOKENS))
        several = (item for found in tables for item in rows.tokens_of(found, self._dim).items())
        return {key: tokens for key, tokens in several if tokens.size}

    @cached_property
    def _columns(self) -> frozenset[str]:
        with store_errors(self._table.name):
            return frozenset(self._table.schema.names)

    def text_vectors(self, ids: Collection[str] | None = None) -> Iterator[tuple[tuple[str, ...], Vector]]:
        """All text vectors, a batch of the table at a time; or those of *ids*, a page of them at a time."""
        columns = ["id", _VECTOR_COLUMNS[SearchField.TEXT]]
        if ids is None:
            parts: Iterable[pa.RecordBatch] = scan.batches(self._table, columns)
        else:
            tables = scan.tables_with(self._table, "id", ids, columns)
            parts = (batch for found in tables for batch in found.to_batches())
        for batch in parts:
            yield tuple(batch.column(0).to_pylist()), rows.vectors_in(batch.column(1), self._dim)

    def texts(self) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        """All texts with their documents, a batch of the table at a time."""
        for batch in scan.batches(self._table, ["doc", "text"]):
            yield tuple(batch.column(0).to_pylist()), tuple(batch.column(1).to_pylist())

    def editions(self, sources: Collection[str]) -> tuple[Edition, ...]:
        """The documents of *sources* that have a version, in id order."""
        if not sources:
            return ()
        condition = f"({one_of('source', sources)}) AND version IS NOT NULL"
        found = scan.read(self._table, condition, _EDITION).group_by(_EDITION).aggregate([])
        return one_of_each(map(Edition, *(found.column(name).to_pylist() for name in _EDITION)))

    def row_hashes(self, ids: Collection[str] | None = None) -> Mapping[str, str]:
        """`row_sha256` as stored, by chunk id."""
        return scan.hashes(self._table, ids)

    def damaged_rows(self) -> tuple[str, ...]:
        """Ids whose row no longer matches its hash, in id order; reads everything."""
        tables = scan.tables_in_id_order(self._table, self._table.schema.names)
        return tuple(key for found in tables for key in rows.damaged_in(found, self._dim))

    def state(self) -> StoreState:
        """Counts per document kind, digest and table version."""
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
