"""What a staged generation contains, by the rows that it began and ended; all others are counted only."""

from collections.abc import Iterator, Mapping
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

    def nodes(self, before: StoreState, told: Told) -> StoreState:
        """What the nodes are, where the base's were *before*.

        Raises: DamageFound: rows are not there as they were told, or others came or went.
        """
        kinds = {"": NODE_ROWS}
        state = self._after(before, told, kinds, subject="nodes")
        check_total(state, self._live_numbers(kinds, {"": state.total}).get("", 0), subject="nodes")
        return state

    def edges(self, before: StoreState, told: Told) -> StoreState:
        """The same of edges."""
        kinds = {kind.value: rows for kind, rows in EDGE_ROWS.items()}
        state = self._after(before, told, kinds, subject="edges")
        check_numbers(state, self._live_numbers(kinds, state.counts), subject="edges")
        return state

    def _after(
        self, before: StoreState, told: Told, kinds: dict[str, RowKind], *, subject: str
    ) -> StoreState:
        came, gone = list(self._ended(kinds, CAME)), list(self._ended(kinds, WENT))
        left = sorted(told.keys() - {row.id for row in (*came, *gone)})
        # Rows that are to stay as they are were not written.
        pages = (left[start : start + _IDS] for start in range(0, len(left), _IDS))
        stayed = [row for ids in pages for row in self._live(kinds, ids)]
        return state_after(before, told, gone=[*gone, *stayed], came=[*came, *stayed], subject=subject)

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

    def _live_numbers(self, kinds: dict[str, RowKind], expected: Mapping[str, int]) -> dict[str, int]:
        """How many rows are there, by kind; no entry for none.

        The server keeps the number of all rows of a database. Where an index has it to itself only those that
        ended are counted, and only where that does not give what is *expected*, all that did not.
        """
        if self._is_alone() and (quick := self._totals(kinds)) == {**expected}:
            return quick
        return self._numbers(kinds, _LIVE)

    def _is_alone(self) -> bool:
        found = self.connection.read(lambda transaction: transaction.run(_INDEXES))
        return [row["number"] for row in found] == [1]

    def _totals(self, kinds: dict[str, RowKind]) -> dict[str, int]:
        """Rows of the database less those that ended, by kind; no entry for none."""
        statement = " UNION ALL ".join(
            f"MATCH {rows.pattern} WITH count(v) AS number RETURN '{kind}' AS kind, number"
            for kind, rows in kinds.items()
        )
        held = self.connection.read(lambda transaction: transaction.run(statement))
        ended = self._numbers(kinds, _ENDED)
        left = {row["kind"]: row["number"] - ended.get(row["kind"], 0) for row in held}
        return {kind: number for kind, number in left.items() if number}

    def _numbers(self, kinds: dict[str, RowKind], condition: str) -> dict[str, int]:
        """How many rows meet a condition, by kind; no entry for none."""
        names = {rows.name: kind for kind, rows in kinds.items()}
        sweeps = Sweeps(connection=self.connection, ix=self.ix)
        found = sweeps.count(list(kinds.values()), {condition: "true"}, "true", g=self.generation)
        return {names[name]: number for (name, _, _), number in found.items()}
