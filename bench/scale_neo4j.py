"""The graph that the runs have left, run by run into a Neo4j of the tests; prints one JSON object.

    python -m bench.scale_neo4j WORK

After the first run and after the last ten pages change and change back, several times: what that takes, and
how many times as long over the whole graph as over that of one run.
"""

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from bench.comparison import Figures
from indexes.chunk_tables import ChunkTables
from indexes.layout import IndexLayout, load_manifest
from indexes.ports import ChunkReader, GraphReader, StoreState
from indexes.publish.current import read_current
from indexes.stores.lance.store import LanceGraphStore
from indexes.stores.neo4j_.store import Neo4jGraphStore
from runtime.settings import raise_gc_threshold
from schemas.edges import Edge
from schemas.nodes import ChunkNode, Node
from tests.fakes.neo4j_server import AS_PEOPLE_RUN_IT, start_neo4j

PAGES, CHANGES = 10, 6


def main() -> None:
    """Start a server, load, compare, stop it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=Path)
    raise_gc_threshold()  # as runs do
    server = start_neo4j(java=AS_PEOPLE_RUN_IT)
    if server is None:
        raise SystemExit("no Neo4j: set NEO4J_TEST_URI, or install Docker, or Java 17 and Maven")
    try:
        store = Neo4jGraphStore(server.uri, server.user, server.password, index_id="scale")
        store.create()
        print(json.dumps(load(parser.parse_args().work, store)))
        store.close()
    finally:
        server.stop()


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One generation written: its rows and deletions, and the seconds each step took."""

    rows: int
    applying: float
    finishing: float
    showing: float

    @property
    def all(self) -> float:
        """From the first row until the server shows the generation."""
        return self.applying + self.finishing + self.showing


class Loading:
    """Writes generations one after another; the first is 1."""

    def __init__(self, store: Neo4jGraphStore, chunks: ChunkReader) -> None:
        self._store, self._chunks = store, chunks
        self._states: tuple[StoreState, StoreState] | None = None
        self.generation = 0

    def write(self, nodes: Sequence[Node], edges: Sequence[Edge], gone: Sequence[Edge] = ()) -> Written:
        """Write a generation that has these rows more and lacks the edges that are *gone*."""
        writer, base = self._store.writer(), self.generation
        self.generation += 1
        writer.stage(self.generation, base=base)
        start = time.monotonic()
        writer.apply_nodes(nodes, ())
        writer.apply_edges(edges, [edge.id for edge in gone])
        applied = time.monotonic()
        self._states = writer.finish(self.generation, before=self._states)
        finished = time.monotonic()
        written = [node.id for node in nodes if isinstance(node, ChunkNode)]
        self._store.show(self.generation, lambda: self._chunks, written=lambda _base: written)
        return Written(
            rows=len(nodes) + len(edges) + len(gone),
            applying=applied - start,
            finishing=finished - applied,
            showing=time.monotonic() - finished,
        )


def load(work: Path, store: Neo4jGraphStore) -> Figures:
    """Every run's rows as a generation; rows a second of all and of the slowest run."""
    layout = IndexLayout(work / "index")
    current = read_current(layout.root)
    graph = LanceGraphStore(layout.lance).at(current)
    loading = Loading(store, ChunkTables(layout, load_manifest(layout)).at(current))
    runs, small = list[Written](), list[Written]()
    for number in range(len(list(work.glob("part-*")))):
        nodes = list(graph.scan_nodes(source=f"part-{number}"))
        if not nodes:  # pages of another index that stands in this folder
            continue
        # Entities are of no source, and edges of every run lead to them.
        nodes += graph.scan_nodes(source="") if number == 0 else ()
        runs.append(loading.write(nodes, list(graph.scan_edges(source=f"part-{number}"))))
        if number == 0:
            small = change_and_change_back(graph, loading)
    large = change_and_change_back(graph, loading)
    held = store.at(loading.generation).state()
    applying = sum(run.applying for run in runs)
    of_small, of_large = _milliseconds(small), _milliseconds(large)
    return {
        "rows": (rows := sum(run.rows for run in runs)),
        "rows_held": sum(sum(state.counts.values()) for state in held),
        "rows_per_second": round(rows / applying),
        "slowest_run": round(min(run.rows / run.applying for run in runs)),
        "seconds": round(applying, 1),
        "seconds_of_finishing": round(sum(run.finishing for run in runs), 1),
        "seconds_of_showing": round(sum(run.showing for run in runs), 1),
        "rows_of_ten_pages": large[0].rows,
        "ms_of_ten_pages_after_one_run": of_small,
        "ms_of_ten_pages_after_all": of_large,
        "ten_pages_ratio": round(of_large["all"] / of_small["all"], 2),
        "same_digests": [s.digest for s in held] == [s.digest for s in graph.state()],
    }


def _milliseconds(written: Sequence[Written]) -> Figures:
    """The median of each step."""
    steps = ("applying", "finishing", "showing", "all")
    return {step: round(1000 * median(getattr(one, step) for one in written)) for step in steps}


def change_and_change_back(graph: GraphReader, loading: Loading) -> list[Written]:
    """Give the chunks of ten pages another hash, take one edge in five away, and undo it; several times."""
    pages = sorted({node.doc for node in graph.scan_nodes(source="part-0") if isinstance(node, ChunkNode)})
    docs = pages[:: max(1, len(pages) // PAGES)][:PAGES]
    nodes = [node for node in graph.nodes_of(docs) if isinstance(node, ChunkNode)]
    edges = graph.edges_of(docs)
    changed = [replace(node, content_hash=node.content_hash[::-1]) for node in nodes]
    written = []
    for _ in range(CHANGES):
        written.append(loading.write(changed, [], edges[::5]))
        written.append(loading.write(nodes, edges[::5]))
    return written


if __name__ == "__main__":
    main()
