"""Bytes by hash over others that are only read."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from indexes.ports import RawStore
from schemas.errors import DamageFound


@dataclass(frozen=True, slots=True)
class OverlayRawStore:
    """Keeps the port RawStore: reads what is in *over*, else in *under*; writes and deletes in *over*."""

    over: RawStore
    under: RawStore

    @property
    def has_grown(self) -> bool:
        return self.over.has_grown

    def put(self, data: bytes) -> str:
        return self.over.put(data)

    def get(self, sha256: str) -> bytes:
        try:
            return self.over.get(sha256)
        except DamageFound:
            return self.under.get(sha256)

    def has(self, sha256: str) -> bool:
        return self.over.has(sha256) or self.under.has(sha256)

    def drop(self, sha256: str) -> None:
        self.over.drop(sha256)

    def hashes(self) -> Iterator[str]:
        yield from sorted({*self.over.hashes(), *self.under.hashes()})

    def drop_all_but(self, named: Collection[str]) -> int:
        return self.over.drop_all_but(named)
