"""Which selectors of a source's `content` matched which parsed documents."""

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from indexes.stores.ledger.retention import needed_fragments
from indexes.stores.ledger.tables import document, insert_new, match
from schemas.documents import COMPARED


class Matches:
    """The `match` table: a page that is not parsed again has matched as it did."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)

    def save(self, found: Mapping[str, Sequence[str]]) -> None:
        """Write the names of the selectors that matched, by the hash of the fragment."""
        rows = [{"fragment_sha": sha, "selector": name} for sha, names in found.items() for name in names]
        if rows:
            with self._engine.begin() as connection:
                insert_new(connection, match, rows)

    def of_source(self, source: str, *, pipeline_version: str) -> frozenset[str] | None:
        """The selectors that match any document of the source; None where this version has parsed none."""
        read = sa.and_(
            document.c.source == source,
            document.c.pipeline_version == pipeline_version,
            document.c.fragment_sha.is_not(None),
            document.c.state.in_([*COMPARED]),
        )
        matched = sa.select(match.c.selector).join(document, match.c.fragment_sha == document.c.fragment_sha)
        with self._reading.connect() as connection:
            if not connection.execute(sa.select(sa.exists().where(read))).scalar_one():
                return None
            return frozenset(connection.execute(matched.where(read).distinct()).scalars())

    def collect(self) -> int:
        """Drop the rows of fragments that nothing needs any more; give how many."""
        with self._engine.begin() as connection:
            gone = sa.delete(match).where(match.c.fragment_sha.not_in(needed_fragments()))
            return connection.execute(gone).rowcount
