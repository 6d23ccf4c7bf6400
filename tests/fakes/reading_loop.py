"""A reader process: reads both stores without end and prints what it saw, a digest a line."""

import hashlib
import json
import select
import sys
from pathlib import Path

from indexes.wiring import open_readers
from schemas.errors import StoreUnavailable


def read_until_closed(index: Path) -> None:
    """Open the index again and read all of it, again and again, and once more after stdin was closed."""
    print("ready", flush=True)
    closed = False
    while not closed:
        closed = bool(select.select([sys.stdin], [], [], 0)[0])
        try:
            print(*read_once(index), flush=True)
        except StoreUnavailable:
            # Its generation was pruned while it read: it begins again at the current one.
            closed = False


def read_once(index: Path) -> tuple[int, str]:
    """The generation that was current, and a digest over all of it."""
    readers = open_readers(index, environment={}, use_graph=True)
    assert readers.graph is not None
    seen = {
        "chunks": [[chunk.id, chunk.text, chunk.anchor_texts] for chunk in readers.chunks.scan()],
        "nodes": [node.id for node in readers.graph.scan_nodes()],
        "edges": [edge.id for edge in readers.graph.scan_edges()],
    }
    return readers.generation, hashlib.sha256(json.dumps(seen).encode()).hexdigest()


if __name__ == "__main__":
    read_until_closed(Path(sys.argv[1]))
