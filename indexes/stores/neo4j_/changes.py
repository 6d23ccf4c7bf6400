"""What a staged generation contains, by the rows that it began and ended; all others are counted only."""

from dataclasses import dataclass
from typing import Any

from indexes.ports import StoreState
from indexes.row_changes import StoredRow, Told, check_total, state_after
from indexes.stores.neo4j_.schema import OPEN, RowKind
from indexes.stores.neo4j_.session import Connection
from indexes.stores.neo4j_.sweeps import Sweeps

CAME = "v.valid_to = $open AND v.valid_from = $g"
WENT = "v.valid_to = $g AND v.valid_from < $g"
_LIVE = "v.valid_to = $open AND v.valid_from <= $g"
_ENDED = "v.valid_to < $open AND v.valid_from IS NOT NULL"
_INDEXES = "MATCH (i:SitegraphIndex) RETURN count(i) AS number"
_ROW = "v.id AS id, v.kind AS kind, v.row_sha256 AS sha"
_IDS = 10_000
"""Ids asked for at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedChanges:
    """The step to a staged generation from its base, of whose rows no other generation has ended any."""

    connection: Connection
    ix: str
    generation: int

    def after(self, before: StoreState, told: Told, rows: RowKind) -> StoreState:
        """What the rows are, where the base's were *before*.

        Raises: DamageFound: rows are not there as they were told, or others came or went.
        """
        subject = rows.subject
        came, gone = self._ended(rows, CAME), self._ended(rows, WENT)
        left = sorted(told.keys() - {row.id for row in (*came, *gone)})
        # Rows that are to stay as they are were not written.
        pages = (left[start : start + _IDS] for start in range(0, len(left), _IDS))
        stayed = [row for ids in pages for row in self._live(rows, ids)]
        state = state_after(before, told, gone=[*gone, *stayed], came=[*came, *stayed], subject=subject)
        check_total(state, self._live_number(rows, state.total), subject=subject)
        return state

    def _ended(self, rows: RowKind, condition: str) -> list[StoredRow]:
        return self._rows(rows, "(ix, valid_to, valid_from)", condition)

    def _live(self, rows: RowKind, ids: list[str]) -> list[StoredRow]:
        return self._rows(rows, "(ix, id, valid_from)", f"v.id IN $ids AND {_LIVE}", ids=ids)

    def _rows(self, rows: RowKind, index: str, condition: str, **parameters: Any) -> list[StoredRow]:
        # SEEK: where statistics are young the planner would as soon read the whole index.
        hint = f"USING INDEX SEEK v:{rows.name}{index}"
        statement = f"MATCH {rows.pattern} {hint} WHERE v.ix = $ix AND {condition} RETURN {_ROW}"
        values = {"ix": self.ix, "g": self.generation, "open": OPEN, **parameters}
        found = self.connection.read(lambda transaction: transaction.run(statement, **values))
        return [StoredRow(row["id"], row["kind"], row["sha"]) for row in found]

    def _live_number(self, rows: RowKind, expected: int) -> int:
        """How many rows are there.

        The server keeps the number of all rows of a database. Where an index has it to itself only those that
        ended are counted, and only where that does not give what is *expected*, all that did not.
        """
        if self._is_alone() and self._number_held(rows) - self._number(rows, _ENDED) == expected:
            return expected
        return self._number(rows, _LIVE)

    def _is_alone(self) -> bool:
        found = self.connection.read(lambda transaction: transaction.run(_INDEXES))
        return [row["number"] for row in found] == [1]

    def _number_held(self, rows: RowKind) -> int:
        statement = f"MATCH {rows.pattern} WITH count(v) AS number RETURN number"
        (found,) = self.connection.read(lambda transaction: transaction.run(statement))
        return int(found["number"])

    def _number(self, rows: RowKind, condition: str) -> int:
        sweeps = Sweeps(connection=self.connection, ix=self.ix)
        return sum(sweeps.count([rows], {condition: "true"}, "true", g=self.generation).values())
