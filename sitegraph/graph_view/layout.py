"""Places for the nodes of a neighbourhood: a column a hop, short edges before long ones."""

from collections.abc import Mapping
from dataclasses import dataclass

from sitegraph.graph_view.shown import ShownGraph


@dataclass(frozen=True, slots=True)
class Cell:
    """A column and a row, both from 0."""

    column: int
    row: int


def lay_out(graph: ShownGraph) -> Mapping[str, Cell]:
    """Put each node into the column of its hop, near the mean row of the nodes before it.

    One sweep of the barycentre method (Sugiyama, Tagawa, Toda 1981); ties by kind, label and id.
    """
    cells: dict[str, Cell] = {}
    before = _neighbours_before(graph)
    for hop in range(1 + max((node.hop for node in graph.nodes), default=0)):
        column = [node for node in graph.nodes if node.hop == hop]
        mean = {node.id: _mean([cells[near].row for near in before.get(node.id, ())]) for node in column}
        column.sort(key=lambda node: (mean[node.id], node.kind, node.label, node.id))
        cells |= {node.id: Cell(hop, row) for row, node in enumerate(column)}
    return cells


def _neighbours_before(graph: ShownGraph) -> Mapping[str, list[str]]:
    hop = {node.id: node.hop for node in graph.nodes}
    before: dict[str, list[str]] = {}
    for edge in graph.edges:
        for near, far in ((edge.src, edge.dst), (edge.dst, edge.src)):
            if hop[near] < hop[far]:
                before.setdefault(far, []).append(near)
    return before


def _mean(rows: list[int]) -> float:
    return round(sum(rows) / len(rows), 6) if rows else 0.0
