"""Real documentation sites of the data folder beside the checkout, unpacked and served on loopback."""

import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def unpack(archive: str, version: str, folder: Path) -> Path:
    """Unpack one version of a site into *folder* and give it; skips where there is no data folder."""
    if not DATA.is_dir():
        pytest.skip(f"no real sites: {DATA} is not there")
    with tarfile.open(DATA / archive) as members:
        wanted = [m for m in members if m.name.removeprefix("./").startswith(version)]
        members.extractall(folder, members=wanted, filter="data")
    return folder


@contextmanager
def serve_folder(folder: Path) -> Iterator[str]:
    """Serve a folder on a free loopback port and give its address, `host:port`."""
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Requests are no news."""
