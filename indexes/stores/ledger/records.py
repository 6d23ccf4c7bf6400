"""Records kept whole: sources, published manifests, answers of a language model, the owner of a ledger."""

import json
from collections.abc import Mapping

import sqlalchemy as sa

from indexes.stores.ledger.tables import LedgerPart, answer, manifest, owner, source, upsert
from schemas.errors import ConfigError
from schemas.records import from_record, to_record
from schemas.source import Source


class Answers(LedgerPart):
    """The `answer` table; what is kept stays, in case its text comes back."""

    def get(self, key: str) -> str | None:
        """The answer under a key, None where there is none."""
        return self._value(sa.select(answer.c.text).where(answer.c.key == key))

    def put(self, key: str, text: str) -> None:
        """Keep an answer; the first stays."""
        self._insert_new(answer, [{"key": key, "text": text}])


class Manifests(LedgerPart):
    """The `manifest` table: the text of `generations/N.json` for each kept generation."""

    def save(self, generation: int, text: str) -> None:
        """Keep the manifest of a generation, in place of one kept before."""
        self._upsert(manifest, [{"generation": generation, "text": text}])

    def get(self, generation: int) -> str | None:
        """Return the manifest of a generation; None where it was never kept."""
        return self._value(sa.select(manifest.c.text).where(manifest.c.generation == generation))

    def forget_before(self, oldest_kept: int) -> None:
        """Drop those of generations before *oldest_kept*."""
        self._run(sa.delete(manifest).where(manifest.c.generation < oldest_kept))


_ONLY = 1


class Owner(LedgerPart):
    """The `owner` table, of one row at most."""

    def index_id(self) -> str | None:
        """The index that has claimed the ledger; None while nobody has."""
        return self._value(sa.select(owner.c.index_id))

    def claim(self, index_id: str) -> None:
        """Make the ledger that of the index, for good.

        Raises: ConfigError: it is another one's.
        """
        self._insert_new(owner, [{"only": _ONLY, "index_id": index_id}])
        self.check(index_id)

    def check(self, index_id: str) -> None:
        """Raise ConfigError where the ledger is another index's."""
        if self.index_id() not in (None, index_id):
            raise ConfigError(
                "names the ledger of another index; give each index one of its own, or empty the database "
                "if that index is gone",
                subject="SITEGRAPH_LEDGER_URL",
            )


class Sources(LedgerPart):
    """The `source` table."""

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
        rows = list(self._rows(sa.select(source).order_by(source.c.name)))
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
