"""`sitegraph serve` as the processes it is."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]


@contextmanager
def running(index: Path, *options: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The service and its port, once it listens."""
    command = [
        sys.executable,
        "-m",
        "sitegraph.cli.app",
        "serve",
        "--index",
        str(index),
        "--port",
        "0",
        *options,
    ]
    process = subprocess.Popen(
        command, cwd=REPO, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        found = re.search(r"http://\S+:(\d+);", said)
        assert found, said
        yield process, int(found[1])
    finally:
        process.kill()
        process.wait()


@contextmanager
def served_pages(index: Path, **environment: str) -> Iterator[str]:
    """The same for a browser: its origin."""
    with running(index, "--workers", "1", **environment) as (_, port):
        yield f"http://127.0.0.1:{port}"
