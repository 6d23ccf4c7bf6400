"""The manifests of published generations, kept a second time to be put back from here."""

import sqlalchemy as sa

from indexes.stores.ledger.tables import manifest, upsert


class Manifests:
    """The `manifest` table: the text of `generations/N.json` for each kept generation."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)

    def save(self, generation: int, text: str) -> None:
        """Keep the manifest of a generation, in place of one kept before."""
        with self._engine.begin() as connection:
            upsert(connection, manifest, [{"generation": generation, "text": text}])

    def get(self, generation: int) -> str | None:
        """Return the manifest of a generation; None where it was never kept."""
        query = sa.select(manifest.c.text).where(manifest.c.generation == generation)
        with self._reading.connect() as connection:
            return connection.execute(query).scalar_one_or_none()

    def forget_before(self, oldest_kept: int) -> None:
        """Drop those of generations before *oldest_kept*."""
        with self._engine.begin() as connection:
            connection.execute(sa.delete(manifest).where(manifest.c.generation < oldest_kept))
