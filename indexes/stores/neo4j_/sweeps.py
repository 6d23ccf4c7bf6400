"""Changes to all rows of a kind that meet a condition, a part at a time."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from indexes.stores.neo4j_.schema import OPEN, RowKind
from indexes.stores.neo4j_.session import Connection, Transaction

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
