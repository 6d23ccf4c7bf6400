"""To which groups the front matter of parsed documents narrows who may see them; few say anything."""

from collections.abc import Collection, Mapping, Sequence

import sqlalchemy as sa

from indexes.stores.ledger.retention import needed_fragments
from indexes.stores.ledger.tables import fragment_access, insert_new

_IN_LIMIT = 500


class StatedAccess:
    """The `fragment_access` table."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)

    def save(self, found: Mapping[str, Sequence[str]]) -> None:
        """Write the groups that fragments state, by their hash; a hash always states the same."""
        rows = [{"fragment_sha": sha, "group": group} for sha, groups in found.items() for group in groups]
        if rows:
            with self._engine.begin() as connection:
                insert_new(connection, fragment_access, rows)

    def of_fragments(self, shas: Collection[str]) -> Mapping[str, frozenset[str]]:
        """Groups by fragment; one that states none is left out."""
        ordered, found = sorted(shas), dict[str, set[str]]()
        with self._reading.connect() as connection:
            for start in range(0, len(ordered), _IN_LIMIT):
                part = ordered[start : start + _IN_LIMIT]
                query = sa.select(fragment_access).where(fragment_access.c.fragment_sha.in_(part))
                for row in connection.execute(query):
                    found.setdefault(row.fragment_sha, set()).add(row.group)
        return {sha: frozenset(groups) for sha, groups in found.items()}

    def is_stated(self) -> bool:
        """Whether any parsed document states groups."""
        with self._reading.connect() as connection:
            return bool(connection.execute(sa.select(sa.exists(sa.select(fragment_access)))).scalar_one())

    def collect(self) -> int:
        """Drop the rows of fragments that nothing needs any more; give how many."""
        with self._engine.begin() as connection:
            gone = sa.delete(fragment_access).where(fragment_access.c.fragment_sha.not_in(needed_fragments()))
            return connection.execute(gone).rowcount
