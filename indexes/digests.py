"""Hashes of rows, the same in every backend, and what a table contains after a change."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from indexes.lattice_hash import LatticeHash
from indexes.ports import ChunkVectors, StoreState
from schemas.advice import ADVICE, Trouble
from schemas.edges import Edge
from schemas.errors import DamageFound, SchemaMismatch
from schemas.ids import canonical_json, sha256_hex
from schemas.nodes import Chunk, Node
from schemas.records import Record, node_to_record, to_record


def row_sha256(record: Record, *blobs: bytes) -> str:
    """Hash a public record, and bytes that belong to it.

    Whole floats count as integers: a store with typed columns gives 1.0 back for 1.
    Raises: SchemaMismatch: the record contains NaN, infinity, or half of a surrogate pair.
    """
    try:
        head = canonical_json(_whole(record)).encode()
    except ValueError as error:
        raise SchemaMismatch(f"cannot be stored: {error}", subject=str(record.get("id", ""))) from error
    return sha256_hex(b"\x00".join((head, *(sha256_hex(blob).encode() for blob in blobs))))


def sorted_digest(hashes: Mapping[str, str]) -> str:
    """Return sha256 over the sorted lines `id:row_sha256`: the digest of a table up to version 0.2."""
    return sha256_hex("".join(f"{key}:{hashes[key]}\n" for key in sorted(hashes)).encode())


def chunk_sha256(chunk: Chunk, vectors: ChunkVectors) -> str:
    """Hash a chunk with its vectors, as little-endian float32, and those of tokens, if any, as float16."""
    parts = (vectors.text, vectors.heading, vectors.anchors, vectors.captions)
    blobs = [np.ascontiguousarray(part, dtype="<f4").tobytes() for part in parts]
    if vectors.tokens.size:
        blobs.append(np.ascontiguousarray(vectors.tokens, dtype="<f2").tobytes())
    return row_sha256(to_record(chunk), *blobs)


def node_sha256(node: Node) -> str:
    """Hash a node's record."""
    return row_sha256(node_to_record(node))


def edge_sha256(edge: Edge) -> str:
    """Hash an edge's record."""
    return row_sha256(to_record(edge))


def _whole(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    return value


READ_WHOLE = 4
"""A table of which one row in so many changed is read whole: that costs no more than to ask for the rows."""


class StoredRow(NamedTuple):
    """What tells a row, as it stands in a store."""

    id: str
    kind: str
    sha256: str


Told = Mapping[str, str | None]
"""What a writer was told since it was staged: by id the hash of a row to upsert, None of one to delete."""


def follows_change(before: StoreState, told: Told) -> bool:
    """Whether to ask a table for its changed rows alone, and not for all rows."""
    return len(told) * READ_WHOLE < before.total


def state_of_rows(rows: Iterable[StoredRow]) -> StoreState:
    """What a table of these rows contains; they are read once, and none is kept."""
    counts = Counter[str]()

    def counted() -> Iterator[tuple[str, str]]:
        for row in rows:
            counts[row.kind] += 1
            yield row.id, row.sha256

    found = LatticeHash().plus(counted())
    return StoreState(counts=dict(sorted(counts.items())), rows=found)


def state_after(
    before: StoreState,
    told: Told,
    *,
    gone: Collection[StoredRow],
    came: Collection[StoredRow],
    subject: str,
    version: int | None = None,
) -> StoreState:
    """What a table contains whose rows *told* names were *gone* before and are *came* now, as it stores them.

    Raises: DamageFound: a row stands there twice, is missing, differs from what was told or outlived its
    deletion.
    """
    for rows in (gone, came):
        refuse_repeated(len(rows) - len({row.id for row in rows}), subject=subject)
    wanted = {id_: sha256 for id_, sha256 in told.items() if sha256 is not None}
    if wrong := _differing(wanted, {row.id: row.sha256 for row in came}):
        raise DamageFound(
            f"{len(wrong)} rows are not as they were written, {wrong[0]} among them; "
            f"{ADVICE[Trouble.DAMAGE]}",
            subject=subject,
        )
    return _changed(before, gone=gone, came=came, version=version)


def refuse_repeated(rows: int, *, subject: str) -> None:
    """Raise DamageFound if there are more rows than ids."""
    if rows:
        raise DamageFound(f"{rows} ids occur in two rows; {ADVICE[Trouble.DAMAGE]}", subject=subject)


def check_numbers(state: StoreState, counted: Mapping[str, int], *, subject: str) -> None:
    """Compare what a table should contain with its rows per kind, as the store counts them.

    Raises: DamageFound: rows that nobody changed came or went.
    """
    found = {kind: number for kind, number in counted.items() if number}
    if found != state.counts:
        raise _behind(found, dict(state.counts), subject=subject)


def check_total(state: StoreState, counted: int, *, subject: str) -> None:
    """Compare as `check_numbers` does, where a store counts all kinds together."""
    if counted != state.total:
        raise _behind(counted, state.total, subject=subject)


def _behind(found: object, wanted: object, *, subject: str) -> DamageFound:
    return DamageFound(
        f"holds {found} rows but should hold {wanted}: some were added or removed without the ledger; "
        f"{ADVICE[Trouble.DAMAGE]}",
        subject=subject,
    )


def _differing(wanted: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    return sorted(id_ for id_ in wanted.keys() | found.keys() if wanted.get(id_) != found.get(id_))


def _changed(
    before: StoreState, *, gone: Collection[StoredRow], came: Collection[StoredRow], version: int | None
) -> StoreState:
    counts = Counter(before.counts)
    counts.subtract(Counter(row.kind for row in gone))
    counts.update(row.kind for row in came)
    left = {kind: number for kind, number in sorted(counts.items()) if number}
    unchanged = set(gone) & set(came)
    rows = before.rows.minus((row.id, row.sha256) for row in gone if row not in unchanged)
    rows = rows.plus((row.id, row.sha256) for row in came if row not in unchanged)
    return StoreState(counts=left, rows=rows, version=version)
