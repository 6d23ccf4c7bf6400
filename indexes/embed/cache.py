"""Vectors by the hash of exactly the encoded text, so that moves, renames and rollbacks encode nothing."""

import hashlib
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np
import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from indexes.ports import TokenVectors, Vector
from indexes.read_only import open_read_only
from schemas.errors import WHAT_TO_DO, DamageFound, NoRoom, SchemaMismatch, StoreUnavailable, why_no_room

_KEYS_PER_STATEMENT = 500
V = TypeVar("V")

_metadata = sa.MetaData()
_vectors = sa.Table(
    "vector",
    _metadata,
    sa.Column("key", sa.LargeBinary(32), primary_key=True),
    sa.Column("vector", sa.LargeBinary, nullable=False),
    # None in rows of earlier versions, which nothing vouches for: they are encoded again when next asked for.
    sa.Column("checksum", sa.LargeBinary(32)),
)
_tokens = sa.Table(
    "token_vectors",
    _metadata,
    sa.Column("key", sa.LargeBinary(32), primary_key=True),
    sa.Column("vector", sa.LargeBinary, nullable=False),
    sa.Column("checksum", sa.LargeBinary(32)),
)
"""Of texts in indexes that have late interaction; apart, so that they are read only where they are needed."""


class TextVectors(ABC):
    """What keepers of the port VectorCache share: keys of texts, and vectors as bytes.

    `model_key` names everything that decides a vector (weights.model_key), so one place may serve several
    models.

    Args: token_dim: numbers of a token vector where those are kept, 0 where they are not.
    """

    def __init__(self, *, model_key: str, token_dim: int) -> None:
        self._model_key, self._token_dim = model_key.encode(), token_dim

    def missing(self, texts: Iterable[str]) -> tuple[str, ...]:
        by_key = self._by_key(texts)
        held = {key for key, _ in self._blobs(by_key)}
        if self._token_dim:
            held = {key for key, _ in self._blobs(held, tokens=True)}
        return tuple(sorted(by_key[key] for key in by_key.keys() - held))

    def put(self, texts: Collection[str], vectors: Vector, tokens: Sequence[TokenVectors] = ()) -> None:
        _check_vectors(texts, vectors)
        _check_tokens(texts, tokens, dim=self._token_dim)
        if texts:
            blobs = [vector.astype("<f4").tobytes() for vector in vectors]
            of_tokens = [several.astype("<f2").tobytes() for several in tokens]
            self._keep(list(map(self._key, texts)), blobs, of_tokens)

    def get(self, texts: Collection[str]) -> Mapping[str, Vector]:
        by_key = self._by_key(texts)
        blobs = self._blobs(by_key)
        return _all_of(texts, {by_key[key]: np.frombuffer(b, "<f4").astype(np.float32) for key, b in blobs})

    def tokens(self, texts: Collection[str]) -> Mapping[str, TokenVectors]:
        by_key = self._by_key(texts)
        blobs = self._blobs(by_key, tokens=True) if self._token_dim else ()
        shape = (-1, self._token_dim)
        return _all_of(texts, {by_key[key]: np.frombuffer(blob, "<f2").reshape(shape) for key, blob in blobs})

    def _by_key(self, texts: Iterable[str]) -> dict[bytes, str]:
        return {self._key(text): text for text in texts}

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(self._model_key + b"\0" + text.encode()).digest()

    @abstractmethod
    def _blobs(self, keys: Collection[bytes], *, tokens: bool = False) -> Iterable[tuple[bytes, bytes]]:
        """Give what is whole of vectors, or of those of *tokens*, by key."""

    @abstractmethod
    def _keep(self, keys: Sequence[bytes], vectors: Sequence[bytes], tokens: Sequence[bytes]) -> None:
        """Keep one row per key, durably; no *tokens* where none are kept."""


class SqliteVectorCache(TextVectors):
    """Keeps the port VectorCache in a SQLite file of its own; may be shared by threads and processes.

    The first vector kept for a text stays. Each has a checksum over key and vector, since SQLite has none:
    what rotted or changed places is missing, and is encoded again.
    """

    def __init__(self, path: Path, *, model_key: str, token_dim: int = 0) -> None:
        """Open or make the file; one that may not be written is only read.

        Raises: StoreUnavailable: it cannot be opened; DamageFound: it is not a SQLite file.
        """
        super().__init__(model_key=model_key, token_dim=token_dim)
        self._path = path
        self._tables: tuple[sa.Table, ...] = (_vectors, _tokens)
        reading = open_read_only(path)
        self._engine = reading or sa.create_engine(f"sqlite:///{path}")
        if reading is not None:
            if not sa.inspect(reading).has_table(_tokens.name):
                self._tables = (_vectors,)
            if not _has_checksums(reading):  # nothing in it can be vouched for, and nothing can be added
                self._engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
                _metadata.create_all(self._engine)
            return
        sa.event.listen(self._engine, "connect", _configure)
        with self._faults():
            path.parent.mkdir(parents=True, exist_ok=True)
            _metadata.create_all(self._engine)
            _add_checksums(self._engine)

    def _blobs(self, keys: Collection[bytes], *, tokens: bool = False) -> Iterator[tuple[bytes, bytes]]:
        table = _tokens if tokens else _vectors
        if table not in self._tables:
            return  # a file of an earlier version that may only be read has none
        with self._faults(), self._engine.connect() as connection:
            for part in _parts(list(keys)):
                yield from _whole_rows(connection, table, part)

    def _keep(self, keys: Sequence[bytes], vectors: Sequence[bytes], tokens: Sequence[bytes]) -> None:
        with self._faults(), self._engine.begin() as connection:
            _insert(connection, _vectors, keys, vectors)
            if tokens:
                _insert(connection, _tokens, keys, tokens)

    def damaged(self) -> int:
        """Count the vectors that do not match their checksum; reads everything.

        Raises: DamageFound: the file itself is broken.
        """
        with self._faults(), self._engine.connect() as connection:
            found = list(connection.exec_driver_sql("PRAGMA integrity_check").scalars())
            if found != ["ok"]:
                raise _broken(self._path, found[0])
            return sum(1 for table in self._tables for _ in _damaged_keys(connection, table))

    def drop_damaged(self) -> None:
        """Drop those vectors; they are encoded again when next asked for. Raises as `damaged` does."""
        if self.damaged():
            with self._faults(), self._engine.begin() as connection:
                for table in self._tables:
                    for keys in _parts(list(_damaged_keys(connection, table))):
                        connection.execute(sa.delete(table).where(table.c.key.in_(keys)))

    def close(self) -> None:
        """Let go of the file."""
        self._engine.dispose()

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except sa.exc.OperationalError as error:
            if full := why_no_room(error):
                raise NoRoom(f"{full}. {WHAT_TO_DO}", subject=str(self._path)) from error
            raise StoreUnavailable(
                f"the vector cache cannot be used: {error.orig}", subject=str(self._path)
            ) from error
        except sa.exc.DatabaseError as error:
            raise _broken(self._path, error.orig) from error


def _check_vectors(texts: Collection[str], vectors: Vector) -> None:
    """Refuse what no reader could use: a wrong number of rows, or values that are not finite.

    Raises: SchemaMismatch.
    """
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise SchemaMismatch(
            f"{len(texts)} texts came with vectors of shape {vectors.shape}", subject="vector cache"
        )
    if not np.isfinite(vectors).all():
        raise SchemaMismatch("the encoder gave values that are not finite", subject="vector cache")


def _check_tokens(texts: Collection[str], tokens: Sequence[TokenVectors], *, dim: int) -> None:
    """Refuse token vectors of another shape than those that are kept, or values that are not finite.

    Raises: SchemaMismatch.
    """
    if len(tokens) != (len(texts) if dim else 0) or any(one.shape[1:] != (dim,) for one in tokens):
        raise SchemaMismatch(
            f"{len(texts)} texts came with token vectors of {len(tokens)}, of {dim} numbers each",
            subject="vector cache",
        )
    if not all(np.isfinite(one).all() for one in tokens):
        raise SchemaMismatch("the encoder gave values that are not finite", subject="vector cache")


def _all_of(texts: Collection[str], found: dict[str, V]) -> dict[str, V]:
    """Give what was found; raises KeyError naming the first text that has no vector."""
    for text in texts:
        if text not in found:
            raise KeyError(text)
    return found


def _configure(connection: sqlite3.Connection, _record: object) -> None:
    # FULL: in WAL mode NORMAL may lose the last commits at a power cut, and each is seconds of encoding
    # that `put` has promised; one flush a batch of hundreds of texts costs nothing beside that.
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=15000"):
        connection.execute(f"PRAGMA {pragma}")


def _add_checksums(engine: sa.Engine) -> None:
    """Bring a file of an earlier version up to this one."""
    with engine.connect() as connection:
        # Two runs that find an old file at once would both add the column.
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        if not _has_checksums(connection):
            connection.exec_driver_sql("ALTER TABLE vector ADD COLUMN checksum BLOB")
        connection.commit()


def _has_checksums(bind: sa.Engine | sa.Connection) -> bool:
    inspector = sa.inspect(bind)
    return any(column["name"] == "checksum" for column in inspector.get_columns("vector"))


def _broken(path: Path, fault: object) -> DamageFound:
    return DamageFound(
        f"the vector cache is damaged: {fault}; delete the file, its vectors are encoded again",
        subject=str(path),
    )


def _damaged_keys(connection: sa.Connection, table: sa.Table) -> Iterator[bytes]:
    """Of rows of earlier versions nothing can be said."""
    rows = connection.execute(sa.select(table).execution_options(yield_per=_KEYS_PER_STATEMENT))
    return (row.key for row in rows if row.checksum is not None and not _is_whole(row))


def _insert(
    connection: sa.Connection, table: sa.Table, keys: Sequence[bytes], blobs: Sequence[bytes]
) -> None:
    """Keep what is not there yet, or no longer whole."""
    for part in _parts(keys):
        _drop_damaged(connection, table, part)
    rows = [
        {"key": key, "vector": blob, "checksum": _checksum(key, blob)}
        for key, blob in zip(keys, blobs, strict=True)
    ]
    connection.execute(insert(table).on_conflict_do_nothing(), rows)


def _checksum(key: bytes, blob: bytes) -> bytes:
    return hashlib.sha256(key + blob).digest()


def _is_whole(row: sa.Row[tuple[bytes, bytes, bytes]]) -> bool:
    return bool(_checksum(row.key, row.vector) == row.checksum)


def _rows(
    connection: sa.Connection, table: sa.Table, keys: Sequence[bytes]
) -> Iterator[sa.Row[tuple[bytes, bytes, bytes]]]:
    yield from connection.execute(sa.select(table).where(table.c.key.in_(keys)))


def _whole_rows(
    connection: sa.Connection, table: sa.Table, keys: Sequence[bytes]
) -> Iterator[tuple[bytes, bytes]]:
    return ((row.key, row.vector) for row in _rows(connection, table, keys) if _is_whole(row))


def _drop_damaged(connection: sa.Connection, table: sa.Table, keys: Sequence[bytes]) -> None:
    """Make room for what is encoded again."""
    gone = [row.key for row in _rows(connection, table, keys) if not _is_whole(row)]
    if gone:
        connection.execute(sa.delete(table).where(table.c.key.in_(gone)))


def _parts(keys: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    for start in range(0, len(keys), _KEYS_PER_STATEMENT):
        yield keys[start : start + _KEYS_PER_STATEMENT]
