"""What people see of one generation: nodes, relationships, and chunks with their text and vectors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from indexes.ports import ChunkReader
from indexes.stores.neo4j_.changes import HELD_ROWS, Sweeps
from indexes.stores.neo4j_.schema import (
    ALL_ROWS,
    EDGE_ROWS,
    HAS_REV,
    NODE_ROWS,
    REF,
    VECTOR_INDEX,
    VIEW_LABEL,
    Properties,
    RowKind,
    property_names,
    seen,
    to_properties,
    vector_index,
)
from indexes.stores.neo4j_.session import Connection, Transaction
from schemas.batches import batched
from schemas.errors import ConfigError
from schemas.nodes import TIMES, Chunk, NodeKind
from schemas.records import to_record

_HERE = "v.valid_from <= $g AND $g < v.valid_to"
_DIFFERENT = {
    "v.valid_to = $open AND v.valid_from > $low AND v.valid_from <= $high": "true",
    "v.valid_to > $low AND v.valid_to < $open AND v.valid_from IS NOT NULL": (
        "(v.valid_to <= $high OR v.valid_from > $low)"
    ),
}
"""Rows that some generations of low to high have and others of them have not, by what an index finds."""

_OURS = "valid_from: null, valid_to: null, row_sha256: null"
_DATED = (
    r"CASE WHEN v.last_modified =~ '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d[+]00:00' "
    "THEN datetime(v.last_modified) ELSE v.last_modified END"
)
_ADD_NODE = (
    f"MERGE (n:{VIEW_LABEL} {{ix: v.ix, id: v.id}}) SET n = v {{.*, {_OURS}}}, n.last_modified = {_DATED} "
    "SET n:$(v.kind)"
)
_DROP_NODE = (
    f"MATCH (r:{REF})-[:{HAS_REV}]->(v) "
    f"WHERE NOT EXISTS {{ MATCH (r)-[:{HAS_REV}]->(w) WHERE w.valid_from <= $g AND $g < w.valid_to }} "
    f"{seen('n', 'v.id')} DETACH DELETE n"
)
_ENDS = f"{seen('a', 'v.src')} {seen('b', 'v.dst')}"
_ADD_EDGE = (
    f"{_ENDS} MERGE (a)-[e:$(toUpper(v.kind)) {{id: v.id}}]->(b) "
    f"SET e = v {{.*, {_OURS}, kind: null, src: null, dst: null}}"
)
_DROP_EDGE = f"{_ENDS} MATCH (a)-[e {{id: v.id}}]->(b) DELETE e"


def change_view(sweeps: Sweeps, *, low: int, high: int, to: int) -> None:
    """Make the view, which shows rows of *low* to *high*, show those of *to*, one of these, and no other.

    A changed edge is away for a moment, a changed node is not.
    """
    found = sweeps.count(ALL_ROWS, _DIFFERENT, _HERE, low=low, high=high, g=to)

    def sweep(rows: RowKind, change: str, *, here: bool) -> None:
        which = _HERE if here else f"NOT ({_HERE})"
        counts = {different: found.get((rows.name, different, here), 0) for different in _DIFFERENT}
        if sum(counts.values()) > HELD_ROWS:
            some = " OR ".join(f"({of_index} AND {rest})" for of_index, rest in _DIFFERENT.items())
            sweeps.walk(rows, f"({some}) AND {which}", change, low=low, high=high, g=to)
            return
        for different, count in counts.items():
            if count:
                some = f"{_DIFFERENT[different]} AND {which}"
                sweeps.over(rows, different, change, which=some, low=low, high=high, g=to)

    sweep(NODE_ROWS, _ADD_NODE, here=True)
    sweep(EDGE_ROWS, _DROP_EDGE, here=False)
    sweep(EDGE_ROWS, _ADD_EDGE, here=True)
    sweep(NODE_ROWS, _DROP_NODE, here=False)


def added_chunks(sweeps: Sweeps, *, low: int, high: int) -> frozenset[str] | None:
    """Return the ids of the `Chunk` nodes that `change_view` makes anew from *low* to *high*, with no text.

    None: they are too many to hold.
    """
    which = f"{_HERE} AND v.kind = '{NodeKind.CHUNK}'"
    return sweeps.ids(NODE_ROWS, _DIFFERENT, which, low=low, high=high, g=high)


_BATCH = 500
_PAGE = 20_000
_EMBEDDED = "+embedding"

FIELDS = (
    "text", "url", "file_path", "file_id", "fragment", "text_fragment", "section", "section_id",
    "region_id", "page_no", "bbox", "page_size", "ordinal", "token_count", "breadcrumbs", "codes",
    "code_languages", "doc_id", "doc_type", "domain", "status", "version", "lang", "stale", "last_modified",
    "last_modified_origin", "fetched_at", "changed_at",
)  # fmt: skip
"""Fields of a chunk that its node gets; `kind` is the node's own, so a chunk's is its `document_kind`."""

_DATES = ("last_modified", *TIMES)

_GIVE = f"UNWIND $rows AS row {seen('c', 'row.id')} SET c += row.properties, c.embedding = null"
_EMBED = (
    f"UNWIND $rows AS row {seen('c', 'row.id')} "
    "CALL db.create.setNodeVectorProperty(c, 'embedding', row.vector) RETURN count(c)"
)
_MARKS = (
    f"MATCH (c:{VIEW_LABEL} {{ix: $ix}}) USING INDEX SEEK c:{VIEW_LABEL}(ix, id) "
    "WHERE c.id > $after AND c.kind = 'Chunk' "
    f"RETURN c.id AS id, c.passage_sha256 AS mark ORDER BY c.ix, c.id LIMIT {_PAGE}"
)
_DIMENSION = (
    f"SHOW VECTOR INDEXES YIELD name, options WHERE name = '{VECTOR_INDEX}' "
    "RETURN options.indexConfig['vector.dimensions'] AS dim"
)
_OTHERS = "MATCH (i:SitegraphIndex {view_embedded: true}) WHERE i.id <> $ix RETURN i.id AS id"


def stale_chunks(
    marks: Mapping[str, str | None], hashes: Mapping[str, str], *, embedded: bool
) -> tuple[str, ...]:
    """Return the ids of chunks whose node says something else than the chunk store, in id order.

    Args: marks: by id what each node was taken from; hashes: `row_sha256` by id as the chunk store has it.
    """
    return tuple(
        id_
        for id_, mark in sorted(marks.items())
        if id_ in hashes and mark != _mark(hashes[id_], embedded=embedded)
    )


def chunk_properties(chunk: Chunk, sha256: str, *, embedded: bool) -> Properties:
    """Return what a node says of a chunk; a field without a value is None, so that an older one goes."""
    record = to_record(chunk)
    said = to_properties({name: record[name] for name in FIELDS})
    said |= {name: _moment(said[name]) for name in _DATES if name in said}
    absent = {name: None for field in FIELDS if record[field] is None for name in property_names(field)}
    mark = _mark(sha256, embedded=embedded)
    return {**absent, **said, "document_kind": record["kind"], "passage_sha256": mark}


def _moment(text: str) -> datetime | str:
    """Read a time for Neo4j, of UTC where it names no zone; what is none stays a text."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return text
    return read if read.tzinfo else read.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkNodes:
    """The `Chunk` nodes of one index's view.

    Args: embedded: whether they have vectors.
    """

    connection: Connection
    ix: str
    embedded: bool

    def fill(self, chunks: ChunkReader, emptied: frozenset[str] | None = None) -> None:
        """Set on the nodes of *emptied* what their chunks say now; without it, on all that say anything else.

        Raises: ConfigError: another index of the database has vectors of another dimension.
        """
        hashes = chunks.row_hashes(emptied)
        stale = sorted(hashes) if emptied is not None else self._stale(hashes)
        for ids in batched(stale, _BATCH):
            rows = [
                {
                    "id": chunk.id,
                    "properties": chunk_properties(chunk, hashes[chunk.id], embedded=self.embedded),
                }
                for chunk in chunks.get(ids)
            ]
            vectors = _vectors(chunks, ids) if self.embedded else []
            if vectors:
                ensure_vector_index(self.connection, self.ix, dim=len(vectors[0]["vector"]))
            self.connection.write(partial(_write, ix=self.ix, rows=rows, vectors=vectors))

    def _stale(self, hashes: Mapping[str, str]) -> Sequence[str]:
        marks = dict(_marks(self.connection, self.ix))
        return stale_chunks(marks, hashes, embedded=self.embedded)


def ensure_vector_index(connection: Connection, ix: str, *, dim: int) -> None:
    """Make the index over vectors of *dim* numbers, in place of one of another dimension.

    Raises: ConfigError: another index of the database needs that one.
    """
    there = [row["dim"] for row in connection.read(lambda transaction: transaction.run(_DIMENSION))]
    if there == [dim]:
        return
    if there:
        others = connection.read(lambda transaction: transaction.run(_OTHERS, ix=ix))
        if others:
            raise ConfigError(
                f"another index of this database ({others[0]['id']}) has vectors of {there[0]} numbers, and "
                f"this one of {dim}; unset SITEGRAPH_NEO4J_EMBEDDINGS, or use another database",
                subject=ix,
            )
        connection.write(lambda transaction: transaction.run(f"DROP INDEX {VECTOR_INDEX}"))
    connection.write(lambda transaction: transaction.run(vector_index(dim)))


def _mark(sha256: str, *, embedded: bool) -> str:
    return sha256 + _EMBEDDED if embedded else sha256


def _vectors(chunks: ChunkReader, ids: Sequence[str]) -> list[dict[str, Any]]:
    return [{"id": id_, "vector": found.text.tolist()} for id_, found in chunks.vectors(ids).items()]


def _write(
    transaction: Transaction, *, ix: str, rows: list[dict[str, Any]], vectors: list[dict[str, Any]]
) -> None:
    transaction.run(_GIVE, ix=ix, rows=rows)
    if vectors:
        transaction.run(_EMBED, ix=ix, rows=vectors)


def _marks(connection: Connection, ix: str) -> Iterator[tuple[str, str | None]]:
    after = ""
    while True:
        page = connection.read(partial(Transaction.run, statement=_MARKS, ix=ix, after=after))
        yield from ((row["id"], row["mark"]) for row in page)
        if len(page) < _PAGE:
            return
        after = page[-1]["id"]
