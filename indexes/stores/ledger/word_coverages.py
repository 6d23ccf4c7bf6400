"""What became of the words of parsed documents, by the hash of the fragment."""

from collections.abc import Mapping
from dataclasses import fields

import sqlalchemy as sa

from indexes.stores.ledger.retention import needed_fragments
from indexes.stores.ledger.tables import document, upsert, word_coverage
from schemas.documents import READABLE
from schemas.word_coverage import NOTABLE, CoverageCounts, WordCoverage

_COUNTS = ("seen", "kept", "lost", "invented")


class WordCoverages:
    """The `word_coverage` table; it has no row of a fragment that a version before parsed: not known."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)

    def save(self, found: Mapping[str, WordCoverage | None]) -> None:
        """Write the counts by the hash of the fragment; None leaves what is known as it is."""
        rows = [
            {
                "fragment_sha": sha,
                **{name: getattr(coverage, name) for name in _COUNTS},
                "dropped": dict(coverage.dropped),
            }
            for sha, coverage in found.items()
            if coverage is not None
        ]
        with self._engine.begin() as connection:
            upsert(connection, word_coverage, rows)

    def counts(self) -> Mapping[str, CoverageCounts]:
        """Counts of what is read now, by source."""
        rows, own = word_coverage.c, document.c
        notable = sa.case((rows.lost > NOTABLE * rows.seen, 1), else_=0)
        sums = {
            "documents": sa.func.count(rows.fragment_sha),
            "unknown": sa.func.count(own.uri) - sa.func.count(rows.fragment_sha),
            **{name: sa.func.coalesce(sa.func.sum(rows[name]), 0) for name in _COUNTS},
            "notable": sa.func.coalesce(sa.func.sum(notable), 0),
        }
        query = (
            sa.select(own.source, *(value.label(name) for name, value in sums.items()))
            .outerjoin(word_coverage, rows.fragment_sha == own.fragment_sha)
            .where(own.state.in_(READABLE), own.fragment_sha.is_not(None))
            .group_by(own.source)
        )
        names = [one.name for one in fields(CoverageCounts)]
        with self._reading.connect() as connection:
            # A ledger that may only be read, made by a version before, has no such table.
            if not sa.inspect(connection).has_table(word_coverage.name):
                return {}
            found = connection.execute(query).mappings()
            return {
                row["source"]: CoverageCounts(**{name: int(row[name]) for name in names}) for row in found
            }

    def collect(self) -> int:
        """Drop the rows of fragments that nothing needs any more; give how many."""
        with self._engine.begin() as connection:
            gone = sa.delete(word_coverage).where(word_coverage.c.fragment_sha.not_in(needed_fragments()))
            return connection.execute(gone).rowcount
