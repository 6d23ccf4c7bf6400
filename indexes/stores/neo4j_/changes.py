"""What a staged generation contains, by the rows that it began and ended; all others are counted only."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from indexes.ports import StoreState
from indexes.row_changes import StoredRow, Told, check_numbers, check_total, state_after
from indexes.stores.neo4j_.schema import EDGE_ROWS, NODE_ROWS, OPEN, RowKind
from indexes.stores.neo4j_.session import Connection
from indexes.stores.neo4j_.sweeps import Sweeps

CAME = "v.valid_to = $open AND v.valid_from = $g"
WENT = "v.valid_to = $g AND v.valid_from < $g"
_LIVE = "v.valid_to = $open AND v.valid_from <= $g"
_ROW = "v.id AS id, v.kind AS kind, v.row_sha256 AS sha"
_IDS = 10_000
"""Ids asked for at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedChanges:
    """The step to a staged generation from its base, of whose rows no other generation has ended any."""

    connection: Connection
    ix: str
    generation: int

    def nodes(self, before: StoreState, told: Told) -> StoreState:
        """What the nodes are, where the base's were *before*.

        Raises: DamageFound: rows are not there as they were told, or others came or went.
        """
        state, live = self._after(before, told, {"": NODE_ROWS}, subject="nodes")
        check_total(state, live.get("", 0), subject="nodes")
        return state

    def edges(self, before: StoreState, told: Told) -> StoreState:
        """The same of edges."""
        kinds = {kind.value: rows for kind, rows in EDGE_ROWS.items()}
        state, live = self._after(before, told, kinds, subject="edges")
        check_numbers(state, live, subject="edges")
        return state

    def _after(
        self, before: StoreState, told: Told, kinds: dict[str, RowKind], *, subject: str
    ) -> tuple[StoreState, dict[str, int]]:
        """The state, and how many rows of each kind are there."""
        came, gone = list(self._ended(kinds, CAME)), list(self._ended(kinds, WENT))
        left = sorted(told.keys() - {row.id for row in (*came, *gone)})
        # Rows that are to stay as they are were not written.
        pages = (left[start : start + _IDS] for start in range(0, len(left), _IDS))
        stayed = [row for ids in pages for row in self._live(kinds, ids)]
        state = state_after(before, told, gone=[*gone, *stayed], came=[*came, *stayed], subject=subject)
        return state, self._numbers(kinds, _LIVE)

    def _ended(self, kinds: dict[str, RowKind], condition: str) -> Iterator[StoredRow]:
        for kind in self._numbers(kinds, condition):
            yield from self._rows(kind, kinds[kind], "(ix, valid_to, valid_from)", condition)

    def _live(self, kinds: dict[str, RowKind], ids: list[str]) -> Iterator[StoredRow]:
        condition = f"v.id IN $ids AND {_LIVE}"
        for kind, rows in kinds.items():
            yield from self._rows(kind, rows, "(ix, id, valid_from)", condition, ids=ids)

    def _rows(
        self, kind: str, rows: RowKind, index: str, condition: str, **parameters: Any
    ) -> Iterator[StoredRow]:
        # SEEK: where statistics are young the planner would as soon read the whole index.
        hint = f"USING INDEX SEEK v:{rows.name}{index}"
        statement = f"MATCH {rows.pattern} {hint} WHERE v.ix = $ix AND {condition} RETURN {_ROW}"
        values = {"ix": self.ix, "g": self.generation, "open": OPEN, **parameters}
        for row in self.connection.read(lambda transaction: transaction.run(statement, **values)):
            yield StoredRow(row["id"], kind or row["kind"], row["sha"])

    def _numbers(self, kinds: dict[str, RowKind], condition: str) -> dict[str, int]:
        """How many rows meet a condition, by kind; no entry for none."""
        names = {rows.name: kind for kind, rows in kinds.items()}
        sweeps = Sweeps(connection=self.connection, ix=self.ix)
        found = sweeps.count(list(kinds.values()), {condition: "true"}, "true", g=self.generation)
        return {names[name]: number for (name, _, _), number in found.items()}
