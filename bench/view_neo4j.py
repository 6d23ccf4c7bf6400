"""What people see in Neo4j, shown for the first time, after a small change and back again.

    python -m bench.view_neo4j [--chunks 8000] [--statements]

A made-up graph of 8,000 chunks (18,400 nodes, 104,000 edges). Then one chunk in a hundred goes, with its
edges; then the generation before is shown again, and the one after. Prints one JSON object; with
--statements, the seconds of each statement too.
"""

import argparse
import json
import os
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.comparison import Figures
from indexes.ports import ChunkReader
from indexes.stores.neo4j_ import session
from indexes.stores.neo4j_.store import Neo4jGraphStore
from schemas.edges import Edge, EdgeKind
from schemas.nodes import Chunk, ChunkNode, Node, Page, Section
from tests.fakes.graph_generations import publish
from tests.fakes.graph_samples import DIM, make_chunk, make_edge, make_entity, make_page, make_vectors
from tests.fakes.memory_stores import MemoryChunkStore
from tests.fakes.neo4j_server import AS_PEOPLE_RUN_IT, Neo4jServer, start_neo4j

WORDS = (
    "the",
    "log",
    "keeps",
    "what",
    "was",
    "changed",
    "before",
    "it",
    "is",
    "written",
    "to",
    "tables",
    "again",
)


def main() -> None:
    """Start a server, measure, stop it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chunks", type=int, default=8_000)
    parser.add_argument("--statements", action="store_true")
    options = parser.parse_args()
    server = start_neo4j(java=AS_PEOPLE_RUN_IT)
    if server is None:
        raise SystemExit("no Neo4j: set NEO4J_TEST_URI, or install Docker, or Java 17 and Maven")
    try:
        store = Neo4jGraphStore(server.uri, server.user, server.password, index_id="view")
        store.create()
        with timed_statements() as spent:
            figures = measure(store, options.chunks, lambda: cpu_seconds(server))
        if options.statements:
            figures["statements"] = dict(sorted(spent.items(), key=lambda item: -item[1])[:40])
        print(json.dumps(figures, indent=2))
        store.close()
    finally:
        server.stop()


def cpu_seconds(server: Neo4jServer) -> float:
    """CPU seconds that a server of our own has taken; of another, 0."""
    process = getattr(server, "_process", None)
    if process is None:
        return 0.0
    after_name = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


def measure(store: Neo4jGraphStore, count: int, cpu: Callable[[], float]) -> Figures:
    """Write, show, take a hundredth away, show, show what was before, and what came after."""
    made, nodes, edges = make_graph(count)
    chunks = MemoryChunkStore(dim=DIM)
    for generation in (1, 2):
        writer = chunks.writer()
        writer.stage(generation, base=generation - 1)
        writer.apply([(chunk, make_vectors()) for chunk in made] if generation == 1 else [], [])
        writer.finish(generation)
    seconds: dict[str, float] = {}
    server_cpu: dict[str, float] = {}

    def clock(name: str, work: Callable[[], Any]) -> None:
        start, before = time.monotonic(), cpu()
        work()
        seconds[name] = round(time.monotonic() - start, 2)
        server_cpu[name] = round(cpu() - before, 2)

    def show(generation: int) -> None:
        def reader() -> ChunkReader:
            return chunks.at(generation)

        store.show(generation, reader)

    gone = {chunk.id for chunk in made[: count // 100]}
    cut = [edge.id for edge in edges if {edge.src, edge.dst} & gone]
    clock("write", lambda: publish(store, 1, nodes, edges))
    clock("show_first", lambda: show(1))
    clock("write_change", lambda: publish(store, 2, gone_nodes=gone, gone_edges=cut))
    clock("show_change", lambda: show(2))
    clock("show_back", lambda: show(1))
    clock("show_again", lambda: show(2))
    return {
        "nodes": len(nodes),
        "edges": len(edges),
        "changed": len(gone) + len(cut),
        "load": round(os.getloadavg()[0], 1),
        "seconds": seconds,
        "server_cpu_seconds": server_cpu,
    }


def make_graph(count: int) -> tuple[list[Chunk], list[Node], list[Edge]]:
    """Pages of 20 sections with a chunk each, similar passages, entities, links."""
    chance = random.Random(1)
    pages: list[Page] = [make_page(f"https://site.test/{n}", title=f"Page {n}") for n in range(count // 20)]
    entities = [make_entity(f"Entity {n}") for n in range(count // 4)]
    made, sections, passages, edges = [], [], [], []
    for number in range(count):
        page = pages[number % len(pages)]
        text = " ".join(chance.choices(WORDS, k=150))
        chunk = make_chunk(text, uri=page.url or "", ordinal=number)
        section = Section(
            id=f"section:{number}",
            doc=page.id,
            source="site",
            heading=f"Heading {number}",
            level=2,
            heading_path=("Guide", f"Heading {number}"),
            ordinal=number,
            text=text,
            url=page.url,
        )
        node = ChunkNode(id=chunk.id, doc=page.id, source="site", content_hash=chunk.content_hash)
        edges += [
            make_edge(EdgeKind.CONTAINS, page, section),
            make_edge(EdgeKind.CONTAINS, section, node),
            make_edge(EdgeKind.MATERIALIZED_FROM, node, section),
        ]
        made.append(chunk)
        sections.append(section)
        passages.append(node)
    for node in passages:
        edges += [
            make_edge(EdgeKind.SIMILAR_TO, node, other, score=0.8) for other in chance.sample(passages, 5)
        ]
        edges += [
            make_edge(EdgeKind.MENTIONS, node, entity, chunk=node.id, text=entity.name, confidence=0.6)
            for entity in chance.sample(entities, 4)
        ]
    for page in pages:
        linked = chance.sample(pages, min(20, len(pages)))
        edges += [make_edge(EdgeKind.LINKS_TO, page, other, anchor_text="see") for other in linked]
    return made, [*pages, *sections, *passages, *entities], edges


@contextmanager
def timed_statements() -> Iterator[dict[str, float]]:
    """Seconds that each statement took."""
    spent: dict[str, float] = defaultdict(float)
    run, sweep = session.Transaction.run, session.Connection.sweep

    def clocked(work: Callable[..., Any]) -> Callable[..., Any]:
        def clock(self: Any, statement: str, **parameters: Any) -> Any:
            start = time.monotonic()
            try:
                return work(self, statement, **parameters)
            finally:
                spent[statement] += time.monotonic() - start

        return clock

    session.Transaction.run, session.Connection.sweep = clocked(run), clocked(sweep)  # type: ignore[method-assign]
    try:
        yield spent
    finally:
        session.Transaction.run, session.Connection.sweep = run, sweep  # type: ignore[method-assign]


if __name__ == "__main__":
    main()
