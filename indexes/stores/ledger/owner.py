"""Which index a ledger belongs to: two that shared one would take each other's documents for their own."""

import sqlalchemy as sa

from indexes.stores.ledger.tables import insert_new, owner
from schemas.errors import ConfigError

_ONLY = 1


class Owner:
    """The `owner` table, of one row at most."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)

    def index_id(self) -> str | None:
        """The index that has claimed the ledger; None while nobody has."""
        with self._reading.connect() as connection:
            return connection.execute(sa.select(owner.c.index_id)).scalar()

    def claim(self, index_id: str) -> None:
        """Make the ledger that of the index, for good.

        Raises: ConfigError: it is another one's.
        """
        with self._engine.begin() as connection:
            insert_new(connection, owner, [{"only": _ONLY, "index_id": index_id}])
        self.check(index_id)

    def check(self, index_id: str) -> None:
        """Raise ConfigError where the ledger is another index's."""
        if self.index_id() not in (None, index_id):
            raise ConfigError(
                "names the ledger of another index; give each index one of its own, or empty the database "
                "if that index is gone",
                subject="SITEGRAPH_LEDGER_URL",
            )
