"""Payloads of the outbox: what a frozen plan will write, as content-addressed files."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexes.ports import RawStore
from schemas.changes import RowChanges
from schemas.hashing import canonical_json, sha256_hex
from schemas.records import from_record, to_record


def dump_payload(store: RawStore, changes: RowChanges) -> str:
    """Keep one payload and give its hash."""
    return store.put(canonical_json(to_record(changes)).encode())


def load_payload(store: RawStore, sha256: str, *only: str) -> RowChanges:
    """Read one payload back, whole or *only* some fields of it, since rows take long to make.

    Raises: DamageFound: the payload is damaged or lost.
    """
    record = json.loads(store.get(sha256))
    if only:
        record = {name: rows for name, rows in record.items() if name in only}
    return from_record(RowChanges, record)


def plan_sha256(payloads: Sequence[str], *, base: int, source: str) -> str:
    """Hash a plan: its base, its source and its payloads in order."""
    return sha256_hex(canonical_json({"base": base, "source": source, "payloads": list(payloads)}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A frozen plan; payloads are read one at a time, so that memory stays bounded."""

    store: RawStore
    payloads: tuple[str, ...]

    def __iter__(self) -> Iterator[RowChanges]:
        return self.parts()

    def parts(self, *only: str) -> Iterator[RowChanges]:
        """The payloads in order, whole or *only* some fields of each."""
        return (load_payload(self.store, sha, *only) for sha in self.payloads)

    def chunk_ids(self) -> frozenset[str]:
        """Ids of the chunks that it writes, without making their rows.

        Raises: DamageFound: a payload is damaged or lost.
        """
        records = (json.loads(self.store.get(sha)) for sha in self.payloads)
        return frozenset(chunk["id"] for record in records for chunk in record["chunks"])
