"""A folder served on loopback by software that is not ours: Python's own server, and nginx."""

import functools
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest


@dataclass
class FolderServer:
    """Where a folder is served, and what was asked of it: path, status, whether with conditions."""

    address: str
    log: list[tuple[str, int, bool]] = field(default_factory=list)

    @property
    def url(self) -> str:
        """The address of the folder."""
        return f"http://{self.address}/"

    def take_pages(self) -> list[tuple[str, int, bool]]:
        """What was asked since the last time, robots.txt and sitemaps aside."""
        taken, self.log[:] = list(self.log), []
        return [ask for ask in taken if ask[0].endswith((".html", ".htm", "/"))]


class _Handler(SimpleHTTPRequestHandler):
    def __init__(self, *args: Any, log: list[tuple[str, int, bool]], **kwargs: Any) -> None:
        self._log = log
        super().__init__(*args, **kwargs)

    def log_request(self, code: Any = "-", size: Any = "-") -> None:
        """Remember what was asked."""
        self._log.append((self.path, int(code), "If-Modified-Since" in self.headers))

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def python_server(folder: Path) -> Iterator[FolderServer]:
    """Serve a folder as `python -m http.server` does: Last-Modified, no ETag, 304 for anything not newer."""
    log: list[tuple[str, int, bool]] = []
    handler = functools.partial(_Handler, directory=str(folder), log=log)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield FolderServer(f"127.0.0.1:{server.server_port}", log)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def nginx_server(folder: Path, state: Path, *, rules: str = "") -> Iterator[FolderServer]:
    """Serve a folder with nginx, whose own files lie in *state*; *rules* go into its `location /`."""
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None:
        pytest.skip("nginx is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    state.mkdir()
    (state / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {state}/pid; error_log {state}/error.log;\n"
        "events { worker_connections 64; }\n"
        "http { access_log off; default_type application/octet-stream;\n"
        "types { text/html html htm; application/pdf pdf; text/markdown md; }\n"
        + "".join(f"{kind}_temp_path {state}/{kind};\n" for kind in _TEMPORARY)
        + f"server {{ listen 127.0.0.1:{port}; root {folder}; location / {{ {rules} }} }} }}\n"
    )
    command = [nginx, "-p", str(state), "-e", str(state / "error.log"), "-c", str(state / "nginx.conf")]
    with subprocess.Popen(command) as process:
        try:
            _wait_for(port, process)
            yield FolderServer(f"127.0.0.1:{port}")
        finally:
            process.terminate()


_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(200):
        assert process.poll() is None, "nginx ended"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("nginx does not answer")
