"""`sitegraph serve` as a process of its own, for a browser."""

import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REPO = Path(__file__).parents[2]
_START_SECONDS = 180.0


@contextmanager
def served_pages(index: Path, **environment: str) -> Iterator[str]:
    """Serve an index on a free port of loopback and give its origin, once it can be read."""
    command = [sys.executable, "-m", "sitegraph.cli.app", "serve", "--port", "0", "--workers", "1"]
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            [*command, "--index", str(index)], cwd=REPO, stderr=said, env={**os.environ, **environment}
        )
        try:
            yield _ready(process, Path(f"/proc/self/fd/{said.fileno()}"))
        finally:
            process.terminate()
            process.wait()


def _ready(process: "subprocess.Popen[bytes]", said: Path) -> str:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(r"(http://\S+:\d+);", said.read_text()):
            try:
                with urllib.request.urlopen(f"{found[1]}/readyz", timeout=_START_SECONDS):
                    return found[1]
            except OSError:
                pass
        time.sleep(0.1)
    raise AssertionError(said.read_text())
