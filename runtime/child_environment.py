"""The variables of a child process that runs modules of sitegraph."""

import os
from pathlib import Path


def child_environment(**more: str) -> dict[str, str]:
    """Return this process's variables, under which a child finds sitegraph wherever it starts, and *more*."""
    root = str(Path(__file__).resolve().parents[1])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH", ""))))
    return {**os.environ, "PYTHONPATH": path, **more}
