"""One generation of chunks, published by a process of its own: `-m tests.fakes.publish_once DIRECTORY N`."""

import sys
from pathlib import Path

from indexes.stores.lance.store import LanceChunkStore
from tests.fakes.graph_samples import DIM, make_chunk, make_vectors

ROWS = 40
KEPT = 3


def main(directory: str, generation: int) -> None:
    """Publish rows that no index holds yet, and keep this generation and the two before it."""
    store = LanceChunkStore(Path(directory), dim=DIM)
    writer = store.writer()
    writer.stage(generation, base=generation - 1)
    writer.apply([(make_chunk(f"text {generation} {n}"), make_vectors()) for n in range(ROWS)], [])
    writer.finish(generation)
    store.writer().prune(keep=range(generation - KEPT + 1, generation + 1))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
