"""Answers of a language model, by the hash of everything that was asked."""

import sqlalchemy as sa

from indexes.stores.ledger.tables import answer, insert_new


class Answers:
    """The `answer` table; what is kept stays, in case its text comes back."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)

    def get(self, key: str) -> str | None:
        """The answer under a key, None where there is none."""
        with self._reading.connect() as connection:
            found: str | None = connection.execute(
                sa.select(answer.c.text).where(answer.c.key == key)
            ).scalar()
        return found

    def put(self, key: str, text: str) -> None:
        """Keep an answer; the first stays."""
        with self._engine.begin() as connection:
            insert_new(connection, answer, [{"key": key, "text": text}])
