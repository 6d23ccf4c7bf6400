"""Which parsed documents seem to stand in for content, as their pages alone tell; few do."""

from collections.abc import Mapping

import sqlalchemy as sa

from indexes.stores.ledger.retention import needed_fragments
from indexes.stores.ledger.tables import document, soft_error, upsert
from schemas.documents import SoftError


class SoftErrors:
    """The `soft_error` table: a page that comes again as it was is not parsed again."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)

    def save(self, found: Mapping[str, SoftError | None]) -> None:
        """Write what was seen by the hash of the fragment; None where nothing was, or no longer."""
        rows = [
            {"fragment_sha": sha, "reason": error.reason, "sure": error.sure}
            for sha, error in found.items()
            if error is not None
        ]
        gone = sorted(sha for sha, error in found.items() if error is None)
        with self._engine.begin() as connection:
            upsert(connection, soft_error, rows)
            connection.execute(sa.delete(soft_error).where(soft_error.c.fragment_sha.in_(gone)))

    def of_source(self, source: str) -> Mapping[str, SoftError]:
        """What was seen of the versions parsed last, by address."""
        query = (
            sa.select(document.c.uri, soft_error.c.reason, soft_error.c.sure)
            .join(soft_error, soft_error.c.fragment_sha == document.c.fragment_sha)
            .where(document.c.source == source)
        )
        with self._reading.connect() as connection:
            rows = connection.execute(query)
            return {row.uri: SoftError(reason=row.reason, sure=row.sure) for row in rows}

    def collect(self) -> int:
        """Drop the rows of fragments that nothing needs any more; give how many."""
        with self._engine.begin() as connection:
            gone = sa.delete(soft_error).where(soft_error.c.fragment_sha.not_in(needed_fragments()))
            return connection.execute(gone).rowcount
