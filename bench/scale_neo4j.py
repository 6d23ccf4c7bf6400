"""The graph that the runs have left, run by run into a Neo4j of the tests; prints one JSON object.

python -m bench.scale_neo4j WORK
"""

import argparse
import json
import time
from pathlib import Path

from bench.comparison import Figures
from indexes.layout import IndexLayout
from indexes.manifest import load_manifest
from indexes.ports import StoreState
from indexes.publish.current import read_current
from indexes.stores.lance.store import LanceGraphStore
from indexes.stores.neo4j_.store import Neo4jGraphStore
from indexes.wiring import open_chunk_store
from runtime.garbage import raise_gc_threshold
from tests.fakes.neo4j_server import start_neo4j


def main() -> None:
    """Start a server, load, compare, stop it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=Path)
    raise_gc_threshold()  # as runs do
    server = start_neo4j()
    if server is None:
        raise SystemExit("no Neo4j: set NEO4J_TEST_URI, or install Docker, or Java 17 and Maven")
    try:
        store = Neo4jGraphStore(server.uri, server.user, server.password, index_id="scale")
        store.create()
        print(json.dumps(load(parser.parse_args().work, store)))
        store.close()
    finally:
        server.stop()


def load(work: Path, store: Neo4jGraphStore) -> Figures:
    """Every run's rows as a generation; rows a second of all and of the slowest run."""
    layout = IndexLayout(work / "index")
    current = read_current(layout.root)
    graph = LanceGraphStore(layout.lance).at(current)
    chunks = open_chunk_store(layout, load_manifest(layout)).at(current)
    speeds, rows, seconds, finishing, showing = [], 0, 0.0, 0.0, 0.0
    states: tuple[StoreState, StoreState] | None = None
    for number in range(len(list(work.glob("part-*")))):
        nodes = list(graph.scan_nodes(source=f"part-{number}"))
        # Entities are of no source, and edges of every run lead to them.
        nodes += graph.scan_nodes(source="") if number == 0 else ()
        edges = list(graph.scan_edges(source=f"part-{number}"))
        writer = store.writer()
        writer.stage(number + 1, base=number)
        start = time.monotonic()
        writer.apply_nodes(nodes, ())
        writer.apply_edges(edges, ())
        took = time.monotonic() - start
        states = writer.finish(number + 1, before=states)
        finishing += time.monotonic() - start - took
        start = time.monotonic()
        store.show(number + 1, lambda: chunks)
        showing += time.monotonic() - start
        rows, seconds = rows + len(nodes) + len(edges), seconds + took
        speeds.append((len(nodes) + len(edges)) / took)
    held = store.at(len(speeds)).state()
    return {
        "rows": rows,
        "rows_held": sum(sum(state.counts.values()) for state in held),
        "rows_per_second": round(rows / seconds),
        "slowest_run": round(min(speeds)),
        "seconds": round(seconds, 1),
        "seconds_of_finishing": round(finishing, 1),
        "seconds_of_showing": round(showing, 1),
        "same_digests": [s.digest for s in held] == [s.digest for s in graph.state()],
    }


if __name__ == "__main__":
    main()
