"""Changes to all rows of a kind that meet a condition, a part at a time."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from indexes.stores.neo4j_.schema import OPEN, RowKind
from indexes.stores.neo4j_.session import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweeps:
    """Sweeps over the rows of one index; half a sweep is finished by the next."""

    connection: Connection
    ix: str

    def over(self, rows: RowKind, condition: str, change: str, **parameters: Any) -> None:
        """Apply *change* to every row `v` of a kind that meets *condition*, 5,000 a transaction.

        The condition begins with `v.valid_to`, alone or with `v.valid_from`: one index holds both.
        """
        self.connection.sweep(
            f"{_find(rows, condition)} CALL (v) {{ {change} }} IN TRANSACTIONS OF 5000 ROWS",
            ix=self.ix,
            open=OPEN,
            **parameters,
        )

    def met(
        self, kinds: Collection[RowKind], conditions: Collection[str], **parameters: Any
    ) -> frozenset[tuple[str, str]]:
        """Give the names of the kinds of which some row meets a condition, each with that condition.

        One statement: most changes touch few kinds, and a sweep of nothing costs as much as one of little.
        """
        asked = [(rows, condition) for rows in kinds for condition in conditions]
        parts = [
            f"{_find(rows, condition)} RETURN {number} AS number LIMIT 1"
            for number, (rows, condition) in enumerate(asked)
        ]
        statement = " UNION ALL ".join(parts)
        found = self.connection.read(
            lambda transaction: transaction.run(statement, ix=self.ix, open=OPEN, **parameters)
        )
        return frozenset((asked[row["number"]][0].name, asked[row["number"]][1]) for row in found)


def _find(rows: RowKind, condition: str) -> str:
    hint = f"USING INDEX v:{rows.name}(ix, valid_to, valid_from)"
    return f"MATCH {rows.pattern} {hint} WHERE v.ix = $ix AND {condition}"
