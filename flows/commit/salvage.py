"""When each passage of damaged tables was first observed: what is still whole of them, read by a process of
its own, since there is damage that ends whoever reads it (one flipped bit may ask for terabytes of memory).

    python -m flows.commit.salvage INDEX GENERATION
"""

import json
import subprocess
import sys

from flows.run.index import Index
from indexes.layout import IndexLayout
from indexes.manifest import load_manifest
from indexes.places import index_place
from indexes.wiring import open_chunk_store
from ingest.diff.rows import Observed, observed_of

_PATIENCE = 1800
"""Seconds."""


def salvage_observed(index: Index) -> dict[str, Observed]:
    """Return what was observed of each chunk whose row is whole, by id; nothing where no row can be read."""
    command = [sys.executable, "-P", "-m", __name__, str(index.layout.root), str(index.current())]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return {}
    return {id_: (sha, times) for id_, (sha, times) in json.loads(done.stdout).items()}


def read_observed(root: str, generation: int) -> dict[str, Observed]:
    """Read the rows in this process."""
    layout = IndexLayout(index_place(root))
    reader = open_chunk_store(layout, load_manifest(layout)).at(generation)
    damaged = frozenset(reader.damaged_rows())
    return {chunk.id: observed_of(chunk) for chunk in reader.scan() if chunk.id not in damaged}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(read_observed(sys.argv[1], int(sys.argv[2]))))
