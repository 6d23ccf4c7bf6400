"""Sources as the last run of each read them, so that commands without a source file know their scope."""

import json
from collections.abc import Mapping

import sqlalchemy as sa

from indexes.stores.ledger.tables import source, upsert
from schemas.records import from_record, to_record
from schemas.source import Source


class Sources:
    """The `source` table."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)

    def save(self, known: Source) -> None:
        """Remember a source as it is now."""
        with self._engine.begin() as connection:
            values = to_record(known)
            if not known.kind_keys:
                del values["kind_keys"]  # of a kind without such keys, versions before read the record too
            record = json.dumps(values, sort_keys=True)
            upsert(connection, source, [{"name": known.name, "record": record}])

    def all(self) -> Mapping[str, Source]:
        """Sources by name; one that another version wrote and this one cannot read is left out."""
        with self._reading.connect() as connection:
            rows = connection.execute(sa.select(source).order_by(source.c.name)).all()
        read = {row.name: _source(row.record) for row in rows}
        return {name: known for name, known in read.items() if known is not None}


def _source(record: str) -> Source | None:
    try:
        values = json.loads(record)
        if not isinstance(values.get("schedule"), list):
            values.pop("schedule", None)  # a text, which versions before kept and did not use
        return from_record(Source, values)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
