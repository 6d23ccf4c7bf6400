"""Rows a second into a Neo4j of the tests, by one transaction at a time and by several, in turn.

    python -m bench.neo4j_writers INDEX [--writers 1 2] [--rounds 2]

INDEX is an index with its graph in LanceDB; all of it is written as a new index each time. Prints one JSON
object, and ends with 1 where two of them differ in what was written.
"""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.comparison import Figures
from indexes.layout import IndexLayout
from indexes.publish.current import read_current
from indexes.stores.lance.store import LanceGraphStore
from indexes.stores.neo4j_ import batches
from indexes.stores.neo4j_.store import Neo4jGraphStore
from runtime.settings import raise_gc_threshold
from schemas.edges import Edge
from schemas.nodes import Node
from tests.fakes.neo4j_server import AS_PEOPLE_RUN_IT, Neo4jServer, start_neo4j

WARM = 6_000
"""Nodes that are written first, and not timed: a server that has just started compiles what it runs."""


def main() -> None:
    """Start a server, write in turn, compare, stop it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("index", type=Path)
    parser.add_argument("--writers", type=int, nargs="+", default=[1, batches.WRITERS])
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    raise_gc_threshold()  # as runs do
    layout = IndexLayout(options.index)
    graph = LanceGraphStore(layout.lance).at(read_current(layout.root))
    nodes, edges = list(graph.scan_nodes()), list(graph.scan_edges())
    server = start_neo4j(java=AS_PEOPLE_RUN_IT)
    if server is None:
        raise SystemExit("no Neo4j: set NEO4J_TEST_URI, or install Docker, or Java 17 and Maven")
    try:
        write(server, "warm", nodes[:WARM], [])
        figures, digests = compare(server, nodes, edges, options.writers, options.rounds)
    finally:
        server.stop()
    print(json.dumps(figures))
    if len(digests) > 1:
        raise SystemExit("what was written differs")


def compare(
    server: Neo4jServer, nodes: Sequence[Node], edges: Sequence[Edge], writers: Sequence[int], rounds: int
) -> tuple[Figures, set[str]]:
    """The median rows a second by number of writers, and the digests of what was written."""
    speeds: dict[int, list[float]] = {number: [] for number in writers}
    digests = set()
    for turn in range(rounds):
        for number in writers:
            batches.WRITERS = number
            seconds, digest = write(server, f"{number}-{turn}", nodes, edges)
            speeds[number].append((len(nodes) + len(edges)) / seconds)
            digests.add(digest)
    medians = {number: median(found) for number, found in speeds.items()}
    return {
        "rows": len(nodes) + len(edges),
        "rows_per_second": {number: [round(speed) for speed in found] for number, found in speeds.items()},
        "ratio": round(medians[writers[-1]] / medians[writers[0]], 2),
    }, digests


def write(server: Neo4jServer, name: str, nodes: Sequence[Node], edges: Sequence[Edge]) -> tuple[float, str]:
    """Write a graph as an index of its own: the seconds that rows took, and the digests."""
    store = Neo4jGraphStore(server.uri, server.user, server.password, index_id=f"writers-{name}")
    writer = store.writer()
    writer.stage(1, base=0)
    start = time.monotonic()
    writer.apply_nodes(nodes, ())
    writer.apply_edges(edges, ())
    seconds = time.monotonic() - start
    digest = " ".join(state.digest for state in writer.finish(1))
    store.close()
    return seconds, digest


if __name__ == "__main__":
    main()
