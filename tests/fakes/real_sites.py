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
        for member in members:
            name = member.name.removeprefix("./")
            if member.isfile() and name.startswith(version):
                extract_file(members, member, folder / name)
    return folder


def extract_file(archive: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> Path:
    """Write one file of an archive to *target*; Python before 3.11.4 has no extraction filters."""
    content = archive.extractfile(member)
    assert content is not None
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content.read())
    return target


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
