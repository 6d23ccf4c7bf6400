"""What an index keeps on a Neo4j server, read once and put back as often as it is harmed."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from tests.fakes.neo4j_runs import remove_graph
from tests.fakes.neo4j_server import Neo4jServer
from tests.fakes.neo4j_stores import query_session

_ROWS = 2_000

_NODES = (
    "MATCH (n) WHERE n.ix = $ix OR (n:SitegraphIndex AND n.id = $ix) "
    "RETURN elementId(n) AS key, labels(n) AS labels, properties(n) AS properties"
)
_EDGES = (
    "MATCH (a {ix: $ix})-[e]->(b) "
    "RETURN elementId(a) AS src, elementId(b) AS dst, type(e) AS type, properties(e) AS properties"
)
_ADD_EDGES = (
    "UNWIND $rows AS row MATCH (a), (b) WHERE elementId(a) = row.src AND elementId(b) = row.dst "
    "CREATE (a)-[e:{type}]->(b) SET e = row.properties"
)

Row = Mapping[str, Any]


@dataclass(frozen=True)
class KeptGraph:
    """Nodes with their labels, and relationships, as the server had them."""

    server: Neo4jServer
    index: Path
    nodes: tuple[Row, ...]
    edges: tuple[Row, ...]

    def restore(self) -> None:
        """Remove what the index has on the server now, and write what was kept."""
        remove_graph(self.server, self.index)
        places: dict[str, str] = {}
        with query_session(self.server) as session:
            for labels, rows in _by("labels", self.nodes):
                add = f"UNWIND $rows AS row CREATE (n:{':'.join(labels)}) SET n = row.properties "
                for part in _parts(rows):
                    added = session.run(f"{add} RETURN row.key AS old, elementId(n) AS new", rows=part)
                    places.update((row["old"], row["new"]) for row in added)
            for type_, rows in _by("type", self.edges):
                moved = ({**row, "src": places[row["src"]], "dst": places[row["dst"]]} for row in rows)
                for part in _parts(moved):
                    session.run(_ADD_EDGES.replace("{type}", type_), rows=part).consume()


def keep_graph(server: Neo4jServer, index: Path) -> KeptGraph:
    """Read what an index has on a server."""
    ix = json.loads((index / "index.json").read_text())["index_id"]
    with query_session(server) as session:
        nodes, edges = session.run(_NODES, ix=ix).data(), session.run(_EDGES, ix=ix).data()
    return KeptGraph(server=server, index=index, nodes=tuple(nodes), edges=tuple(edges))


def _by(column: str, rows: Iterable[Row]) -> Iterator[tuple[Any, list[Row]]]:
    for value, found in groupby(sorted(rows, key=itemgetter(column)), key=itemgetter(column)):
        yield value, list(found)


def _parts(rows: Iterable[Row]) -> Iterator[list[Row]]:
    listed = list(rows)
    yield from (listed[start : start + _ROWS] for start in range(0, len(listed), _ROWS))
