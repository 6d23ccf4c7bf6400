"""One at a time lets new documents of a source in, whichever process or thread it is."""

import fcntl
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from schemas.errors import StoreUnavailable

_ADMISSION = 0x51_7E_64_B0
"""The first of the two numbers that name an advisory lock; any that nobody else uses will do."""


class Admission:
    """A lock for each source, beside the ledger. It goes with the process that holds it."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    @contextmanager
    def locked(self, source: str) -> Iterator[None]:
        """Keep others that would let documents of *source* in out of the block."""
        lock = self._lock_file() if self._engine.dialect.name == "sqlite" else self._advisory_lock(source)
        with lock:
            yield

    @contextmanager
    def _lock_file(self) -> Iterator[None]:
        """A transaction would do, but the block has several of its own.

        Source: flock(2): each opening of the file counts by itself, so threads exclude each other, too.
        """
        path = f"{self._engine.url.database}-admission"
        try:
            file = open(path, "ab")  # noqa: SIM115 - closed below, once it is known that it was opened
        except OSError as error:
            raise StoreUnavailable(f"cannot be opened: {error}", subject=path) from error
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    @contextmanager
    def _advisory_lock(self, source: str) -> Iterator[None]:
        """Source: PostgreSQL manual, 13.3.5 (advisory locks): it ends with its transaction."""
        key = zlib.crc32(source.encode()) - 2**31
        with self._engine.begin() as connection:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADMISSION, key)))
            yield
