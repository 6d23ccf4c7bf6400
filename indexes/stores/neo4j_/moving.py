"""From earlier layouts to today's, in place; generations.py says how they differ."""

from indexes.stores.neo4j_.generations import LAYOUT, GenerationStore, moved
from indexes.stores.neo4j_.schema import EDGE, HAS_REV, REF, REV
from indexes.stores.neo4j_.session import Connection, Transaction
from schemas.nodes import NodeKind

_OLDER = f"MATCH (i:SitegraphIndex) WHERE coalesce(i.layout, 1) < {LAYOUT} RETURN i.id AS id"
_OLD_SCHEMA = (
    "SHOW INDEXES YIELD name, entityType, labelsOrTypes, owningConstraint "
    "WHERE name STARTS WITH 'sitegraph_' AND (labelsOrTypes[0] IN ['Ref', 'Rev'] "
    f"OR entityType = 'RELATIONSHIP' AND labelsOrTypes[0] <> '{EDGE}') RETURN name, owningConstraint AS owner"
)
_IN_PARTS = "IN TRANSACTIONS OF 5000 ROWS"
# Identities last: by their label the rest is found, the view of another index may have edges of these types.
_MOVES = (
    f"MATCH (a:Ref)-[v:!(HAS_REV|{HAS_REV}|{EDGE})]->(b:Ref) WHERE v.ix = $ix CALL (a, v, b) {{ "
    f"CREATE (a)-[w:{EDGE}]->(b) SET w = v {{.*, kind: toLower(replace(type(v), '_REV', '')), src: a.id, "
    f"dst: b.id}} DELETE v }} {_IN_PARTS}",
    f"MATCH (n:Ref)-[old:HAS_REV]->(v:Rev) WHERE n.ix = $ix CALL (n, old, v) {{ "
    f"CREATE (n)-[:{HAS_REV}]->(v) SET v:{REV} REMOVE v:Rev DELETE old }} {_IN_PARTS}",
    f"MATCH (n:Ref) WHERE n.ix = $ix CALL (n) {{ SET n = {{ix: n.ix, id: n.id}}, n:{REF} "
    f"REMOVE n:Ref:{':'.join(NodeKind)} }} {_IN_PARTS}",
)


def move_rows(connection: Connection, generations: GenerationStore, ix: str) -> None:
    """Bring the rows of an index to today's layout, without its view; broken off, it is gone on with.

    What it finds in today's layout it leaves alone.
    """
    if generations.load().layout == LAYOUT:
        return
    for move in _MOVES:
        connection.sweep(move, ix=ix)
    generations.save(moved)
    if not connection.read(lambda transaction: transaction.run(_OLDER)):
        connection.write(_drop_schema)


def _drop_schema(transaction: Transaction) -> None:
    for row in transaction.run(_OLD_SCHEMA):
        kind = "CONSTRAINT" if row["owner"] else "INDEX"
        transaction.run(f"DROP {kind} {row['name']} IF EXISTS")
