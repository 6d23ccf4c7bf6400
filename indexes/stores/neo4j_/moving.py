"""From the first layout to today's: rows had the labels and types that people see, and no view was apart."""

from indexes.stores.neo4j_.generations import LAYOUT, GenerationStore, moved
from indexes.stores.neo4j_.schema import (
    EDGE_ROWS,
    INDEXES_THERE,
    drop_statements,
    relationship_type,
    row_type,
)
from indexes.stores.neo4j_.session import Connection, Transaction
from schemas.edges import EdgeKind
from schemas.nodes import NodeKind

_OLDER = f"MATCH (i:SitegraphIndex) WHERE coalesce(i.layout, 1) < {LAYOUT} RETURN i.id AS id"
_BARE = (
    "MATCH (n:Ref) WHERE n.ix = $ix AND size(labels(n)) > 1 "
    f"CALL (n) {{ SET n = {{ix: n.ix, id: n.id}} REMOVE n:{':'.join(NodeKind)} }} "
    "IN TRANSACTIONS OF 5000 ROWS"
)


def move_rows(connection: Connection, generations: GenerationStore, ix: str) -> None:
    """Bring the rows of an index to today's layout, without its view; broken off, it is gone on with.

    What it finds in today's layout it leaves alone.
    """
    if generations.load().layout == LAYOUT:
        return
    for kind in EDGE_ROWS:
        connection.sweep(_move(kind), ix=ix)
    connection.sweep(_BARE, ix=ix)
    generations.save(moved)
    if not connection.read(lambda transaction: transaction.run(_OLDER)):
        connection.write(_drop_schema)


def _drop_schema(transaction: Transaction) -> None:
    there = {row["name"] for row in transaction.run(INDEXES_THERE)}
    for name, statement in drop_statements().items():
        if name in there:
            transaction.run(statement)


def _move(kind: EdgeKind) -> str:
    # Ends are Refs: the view of another index may have edges of this type.
    return (
        f"MATCH (a:Ref)-[v:{relationship_type(kind)}]->(b:Ref) WHERE v.ix = $ix CALL (a, v, b) {{ "
        f"MERGE (a)-[w:{row_type(kind)} {{ix: v.ix, id: v.id, valid_from: v.valid_from}}]->(b) "
        "SET w = properties(v) DELETE v } IN TRANSACTIONS OF 5000 ROWS"
    )
