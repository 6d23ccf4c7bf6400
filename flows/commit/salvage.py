"""When each passage of damaged tables was first observed: what is still whole of them, read by a process of
its own, since damage may end whoever reads it: for one bit in a list of deleted rows the driver wants 4 TB.

    python -m flows.commit.salvage INDEX GENERATION
"""

import json
import logging
import signal
import subprocess
import sys

from flows.run.index import Index
from indexes.chunk_tables import ChunkTables
from indexes.layout import IndexLayout, load_manifest
from indexes.places import index_place
from ingest.diff.rows import Observed, observed_of

_log = logging.getLogger(__name__)


def salvage_observed(index: Index) -> dict[str, Observed]:
    """Return what was observed of each chunk whose row is whole, by id; nothing where no row can be read."""
    done = read_apart(str(index.layout.root), index.current())
    if done.returncode:
        _log.warning(
            "when passages changed is lost with the tables; the run's time takes its place: %s", _why(done)
        )
        return {}
    return {id_: (sha, times) for id_, (sha, times) in json.loads(done.stdout).items()}


def read_apart(root: str, generation: int) -> subprocess.CompletedProcess[str]:
    """Run this module."""
    command = [sys.executable, "-P", "-m", __name__, root, str(generation)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _why(ended: subprocess.CompletedProcess[str]) -> str:
    if ended.returncode < 0:
        return f"{signal.Signals(-ended.returncode).name} ended what read them"
    return ended.stderr.strip().rpartition("\n")[2]


def read_observed(root: str, generation: int) -> dict[str, Observed]:
    """Read the rows in this process."""
    layout = IndexLayout(index_place(root))
    reader = ChunkTables(layout, load_manifest(layout)).at(generation)
    damaged = frozenset(reader.damaged_rows())
    return {chunk.id: observed_of(chunk) for chunk in reader.scan() if chunk.id not in damaged}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(read_observed(sys.argv[1], int(sys.argv[2]))))
