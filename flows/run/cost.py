"""What a run cost, from the readings of the meter and what readers see after it."""

from collections.abc import Mapping

from schemas.cost import CostAccount, Costs, RowsTouched, Spent, settle, total_of
from schemas.nodes import NodeKind

TABLES = ("documents", "nodes", "edges", "chunks")
MILLISECONDS = 3

_DOCUMENTS = (NodeKind.PAGE, NodeKind.PDF_DOC)


def account_of(costs: Costs, totals: Mapping[str, Mapping[str, int]]) -> CostAccount:
    """Account for *costs*; *totals* counts what readers see of each table, by kind."""
    causes = {cause: _rounded(spent) for cause, spent in settle(costs).items()}
    there = {table: sum(kinds.values()) for table, kinds in totals.items()}
    nodes = totals.get("nodes", {})
    there["documents"] = sum(nodes.get(kind.value, 0) for kind in _DOCUMENTS)
    return CostAccount(
        total=_rounded(total_of(causes)),
        causes=causes,
        rows={
            table: RowsTouched(touched=costs.rows.get(table, 0), there=there.get(table, 0))
            for table in TABLES
        },
    )


def _rounded(spent: Spent) -> Spent:
    return Spent(cpu=round(spent.cpu, MILLISECONDS), read=spent.read, written=spent.written)
