"""What a staged generation contains, by the rows that it changed; changes of all rows of a kind, in parts."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from indexes.digests import StoredRow, Told, check_total, state_after
from indexes.ports import StoreState
from indexes.stores.neo4j_.schema import OPEN, RowKind
from indexes.stores.neo4j_.session import Connection, Transaction
from schemas.batches import in_parts

PAGE_ROWS = 5_000
"""Rows that one transaction of a sweep or a walk changes."""
HELD_ROWS = 20_000
"""Rows of a kind that a sweep may let the server keep: some MB. Beyond, to walk past all costs little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweeps:
    """Sweeps over the rows of one index; half a sweep is finished by the next."""

    connection: Connection
    ix: str

    def over(
        self, rows: RowKind, condition: str, change: str, *, which: str = "true", **parameters: Any
    ) -> None:
        """Apply *change* to every row `v` of a kind that meets *condition* and *which*, 5,000 a transaction.

        It looks at the rows that meet *condition* alone, and the server keeps a reference to each that meets
        both from the first to the last. The condition is about `v.valid_to` and `v.valid_from`, which one
        index has, and has no OR, nor a NOT over an AND.
        """
        self.connection.sweep(
            f"{_find(rows, condition, which)} CALL (v) {{ {change} }} IN TRANSACTIONS OF {PAGE_ROWS} ROWS",
            ix=self.ix,
            open=OPEN,
            **parameters,
        )

    def walk(self, rows: RowKind, condition: str, change: str, **parameters: Any) -> None:
        """Apply *change* to every row `v` of a kind that meets *condition*, in id order, 5,000 a transaction.

        It looks at every row of the kind, and the server keeps references to 5,000 at most. Of an id with
        several such rows it may leave some out: *change* does for an id what it does for any row of it.
        """
        statement = _page(rows, condition, change)
        after: str | None = ""

        def work(transaction: Transaction) -> str | None:
            page = transaction.run(statement, ix=self.ix, open=OPEN, after=after, **parameters)
            return page[0]["last"] if page else None

        while after is not None:
            after = self.connection.write(work)

    def count(
        self, kinds: Collection[RowKind], conditions: Mapping[str, str], which: str, **parameters: Any
    ) -> dict[tuple[str, str, bool], int]:
        """Give, by kind, condition and whether *which* holds, how many rows there are; no entry for none.

        One statement: most changes touch few kinds, and a sweep of nothing costs as much as one of little.

        Args: conditions: what else the rows of each meet; `over` says how a condition is written.
        """
        asked = [(rows, condition) for rows in kinds for condition in conditions]
        parts = [
            f"{_find(rows, condition, conditions[condition])} "
            f"RETURN {number} AS number, {which} AS which, count(*) AS rows"
            for number, (rows, condition) in enumerate(asked)
        ]
        statement = " UNION ALL ".join(parts)
        found = self.connection.read(
            lambda transaction: transaction.run(statement, ix=self.ix, open=OPEN, **parameters)
        )
        return {
            (asked[row["number"]][0].name, asked[row["number"]][1], row["which"]): row["rows"]
            for row in found
        }

    def ids(
        self, rows: RowKind, conditions: Collection[str], which: str, **parameters: Any
    ) -> frozenset[str] | None:
        """Give the ids of rows that meet one of *conditions* and *which*; None where they are over 20,000.

        `over` says how a condition is written.
        """
        parts = [
            f"{_find(rows, condition, which)} RETURN v.id AS id LIMIT {HELD_ROWS + 1}"
            for condition in conditions
        ]
        statement = " UNION ".join(parts)
        found = self.connection.read(
            lambda transaction: transaction.run(statement, ix=self.ix, open=OPEN, **parameters)
        )
        return frozenset(row["id"] for row in found) if len(found) <= HELD_ROWS else None


def _find(rows: RowKind, condition: str, which: str) -> str:
    # SEEK: where statistics are young the planner would as soon read the whole index.
    hint = f"USING INDEX SEEK v:{rows.name}(ix, valid_to, valid_from)"
    # After a WITH: beside the search, an OR (which NOT of an AND is too) makes it read all rows of the kind.
    return f"MATCH {rows.pattern} {hint} WHERE v.ix = $ix AND {condition} WITH v WHERE {which}"


def _page(rows: RowKind, condition: str, change: str) -> str:
    hint = f"USING INDEX SEEK v:{rows.name}(ix, id, valid_from)"
    find = f"MATCH {rows.pattern} {hint} WHERE v.ix = $ix AND v.id > $after AND v.valid_from IS NOT NULL"
    # The condition comes after the order: with an OR beside the search each page would sort all later rows.
    page = f"{find} WITH v ORDER BY v.ix, v.id WHERE {condition} WITH v LIMIT {PAGE_ROWS}"
    collected = "WITH collect(v) AS page, max(v.id) AS last WHERE last IS NOT NULL"
    return f"{page} {collected} CALL (page) {{ UNWIND page AS v {change} }} RETURN last"


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
        left = told.keys() - {row.id for row in (*came, *gone)}
        # Rows that are to stay as they are were not written.
        stayed = [row for ids in in_parts(left, _IDS) for row in self._live(rows, ids)]
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
