"""What people see: nodes and relationships of one generation, under the labels and types of their kinds.

The view is made of the rows and contains nothing of its own but what chunks say. To go from one generation to
another only the rows are looked at that came or ended between the two; done twice, or gone on with after a
crash, it gives the same.
"""

from indexes.stores.neo4j_.schema import (
    ALL_ROWS,
    EDGE_ROWS,
    HAS_REV,
    NODE_ROWS,
    REF,
    VIEW_LABEL,
    RowKind,
    seen,
)
from indexes.stores.neo4j_.sweeps import HELD_ROWS, Sweeps
from schemas.nodes import NodeKind

_HERE = "v.valid_from <= $g AND $g < v.valid_to"
_DIFFERENT = {
    "v.valid_to = $open AND v.valid_from > $low AND v.valid_from <= $high": "true",
    "v.valid_to > $low AND v.valid_to < $open AND v.valid_from IS NOT NULL": (
        "(v.valid_to <= $high OR v.valid_from > $low)"
    ),
}
"""Rows that some generations of low to high have and others of them have not, by what an index finds."""

_OURS = "valid_from: null, valid_to: null, row_sha256: null"
_DATED = (
    r"CASE WHEN v.last_modified =~ '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d[+]00:00' "
    "THEN datetime(v.last_modified) ELSE v.last_modified END"
)
_ADD_NODE = (
    f"MERGE (n:{VIEW_LABEL} {{ix: v.ix, id: v.id}}) SET n = v {{.*, {_OURS}}}, n.last_modified = {_DATED} "
    "SET n:$(v.kind)"
)
_DROP_NODE = (
    f"MATCH (r:{REF})-[:{HAS_REV}]->(v) "
    f"WHERE NOT EXISTS {{ MATCH (r)-[:{HAS_REV}]->(w) WHERE w.valid_from <= $g AND $g < w.valid_to }} "
    f"{seen('n', 'v.id')} DETACH DELETE n"
)
_ENDS = f"{seen('a', 'v.src')} {seen('b', 'v.dst')}"
_ADD_EDGE = (
    f"{_ENDS} MERGE (a)-[e:$(toUpper(v.kind)) {{id: v.id}}]->(b) "
    f"SET e = v {{.*, {_OURS}, kind: null, src: null, dst: null}}"
)
_DROP_EDGE = f"{_ENDS} MATCH (a)-[e {{id: v.id}}]->(b) DELETE e"


def change_view(sweeps: Sweeps, *, low: int, high: int, to: int) -> None:
    """Make the view, which shows rows of *low* to *high*, show those of *to*, one of these, and no other.

    A changed edge is away for a moment, a changed node is not.
    """
    found = sweeps.count(ALL_ROWS, _DIFFERENT, _HERE, low=low, high=high, g=to)

    def sweep(rows: RowKind, change: str, *, here: bool) -> None:
        which = _HERE if here else f"NOT ({_HERE})"
        counts = {different: found.get((rows.name, different, here), 0) for different in _DIFFERENT}
        if sum(counts.values()) > HELD_ROWS:
            some = " OR ".join(f"({of_index} AND {rest})" for of_index, rest in _DIFFERENT.items())
            sweeps.walk(rows, f"({some}) AND {which}", change, low=low, high=high, g=to)
            return
        for different, count in counts.items():
            if count:
                some = f"{_DIFFERENT[different]} AND {which}"
                sweeps.over(rows, different, change, which=some, low=low, high=high, g=to)

    sweep(NODE_ROWS, _ADD_NODE, here=True)
    sweep(EDGE_ROWS, _DROP_EDGE, here=False)
    sweep(EDGE_ROWS, _ADD_EDGE, here=True)
    sweep(NODE_ROWS, _DROP_NODE, here=False)


def added_chunks(sweeps: Sweeps, *, low: int, high: int) -> frozenset[str] | None:
    """Return the ids of the `Chunk` nodes that `change_view` makes anew from *low* to *high*, with no text.

    None: they are too many to hold.
    """
    which = f"{_HERE} AND v.kind = '{NodeKind.CHUNK}'"
    return sweeps.ids(NODE_ROWS, _DIFFERENT, which, low=low, high=high, g=high)
