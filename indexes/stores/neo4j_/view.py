"""What people see: nodes and relationships of one generation, under the labels and types of their kinds.

The view is made of the rows and holds nothing of its own but what passages say. To go from one generation to
another only the rows are looked at that came or ended between the two; done twice, or gone on with after a
crash, it gives the same.
"""

from indexes.stores.neo4j_.schema import (
    ALL_ROWS,
    EDGE_ROWS,
    NODE_ROWS,
    VIEW_LABEL,
    RowKind,
    relationship_type,
)
from indexes.stores.neo4j_.sweeps import Sweeps
from schemas.edges import EdgeKind

_HERE = "v.valid_from <= $g AND $g < v.valid_to"
_DIFFERENT = (
    "v.valid_to = $open AND v.valid_from > $low AND v.valid_from <= $high",
    "v.valid_to > $low AND v.valid_to < $open AND (v.valid_to <= $high OR v.valid_from > $low)",
)
"""Rows that some generations of low to high have and others of them have not: an index serves each half."""

_SHOWN = "v {.*, valid_from: null, valid_to: null, row_sha256: null}"
_ADD_NODE = f"MERGE (n:{VIEW_LABEL} {{ix: v.ix, id: v.id}}) SET n = {_SHOWN} SET n:$(v.kind)"
_DROP_NODE = (
    "MATCH (r:Ref)-[:HAS_REV]->(v) "
    "WHERE NOT EXISTS { MATCH (r)-[:HAS_REV]->(w) WHERE w.valid_from <= $g AND $g < w.valid_to } "
    f"MATCH (n:{VIEW_LABEL} {{ix: v.ix, id: v.id}}) DETACH DELETE n"
)
_ENDS = (
    "WITH v, startNode(v).id AS src, endNode(v).id AS dst "
    f"MATCH (a:{VIEW_LABEL} {{ix: $ix, id: src}}) MATCH (b:{VIEW_LABEL} {{ix: $ix, id: dst}}) "
)


def change_view(sweeps: Sweeps, *, low: int, high: int, to: int) -> None:
    """Make the view, which shows rows of *low* to *high*, show those of *to*, one of these, and no other.

    A changed edge is away for a moment, a changed node is not.
    """

    there = sweeps.met(ALL_ROWS, _DIFFERENT, low=low, high=high)

    def sweep(rows: RowKind, which: str, change: str) -> None:
        for different in _DIFFERENT:
            if (rows.name, different) in there:
                sweeps.over(rows, f"{different} AND {which}", change, low=low, high=high, g=to)

    sweep(NODE_ROWS, _HERE, _ADD_NODE)
    for kind, rows in EDGE_ROWS.items():
        sweep(rows, f"NOT ({_HERE})", _drop_edge(kind))
        sweep(rows, _HERE, _add_edge(kind))
    sweep(NODE_ROWS, f"NOT ({_HERE})", _DROP_NODE)


def _add_edge(kind: EdgeKind) -> str:
    return f"{_ENDS} MERGE (a)-[e:{relationship_type(kind)} {{id: v.id}}]->(b) SET e = {_SHOWN}"


def _drop_edge(kind: EdgeKind) -> str:
    return f"{_ENDS} MATCH (a)-[e:{relationship_type(kind)} {{id: v.id}}]->(b) DELETE e"
