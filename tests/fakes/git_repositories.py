"""Repositories made by the `git` program, and served over HTTP by its own `git http-backend`."""

import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_WHO = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org"}
_ENVIRONMENT = {
    **_WHO,
    **{name.replace("AUTHOR", "COMMITTER"): value for name, value in _WHO.items()},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
}


@dataclass(frozen=True)
class GitRepository:
    """A work tree with its repository."""

    root: Path

    def git(self, *arguments: str, at: str | None = None) -> str:
        """Run a command of git in the work tree; give what it printed. *at* is the time that commits get."""
        dated = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at} if at is not None else {}
        done = subprocess.run(
            ["git", "-C", str(self.root), *arguments],
            env=_ENVIRONMENT | dated,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit(
        self, files: Mapping[str, str | bytes | None], message: str = "Change", *, at: str | None = None
    ) -> str:
        """Write files (None: delete) and commit all there is; give the commit's id."""
        for name, content in files.items():
            path = self.root / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message, at=at)
        return self.git("rev-parse", "HEAD")


def make_repository(root: Path) -> GitRepository:
    """Make an empty repository whose branch is `main`."""
    root.mkdir(parents=True, exist_ok=True)
    repository = GitRepository(root)
    repository.git("init", "--quiet", "--initial-branch=main")
    return repository


@dataclass
class GitServer:
    """`url` ends in a slash; `requests` are method, path and headers of what was asked."""

    url: str = ""
    port: int = 0
    requests: list[tuple[str, str, Mapping[str, str]]] = field(default_factory=list)
    token: str | None = None
    moved: Mapping[str, str] = field(default_factory=dict)
    sent: int = 0


@contextmanager
def serve_git(folder: Path) -> Iterator[GitServer]:
    """Serve all repositories below *folder*."""
    served = GitServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def _answer(self) -> None:
            path, _, query = self.path.partition("?")
            served.requests.append((self.command, self.path, dict(self.headers.items())))
            if served.token is not None and self.headers.get("Authorization") != served.token:
                self.send_response(401)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            for old, new in served.moved.items():
                if path.startswith(old):
                    self.send_response(301)
                    self.send_header("Location", self.path.replace(old, new, 1))
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            done = subprocess.run(
                ["git", "http-backend"],
                env={
                    **_ENVIRONMENT,
                    "GIT_PROJECT_ROOT": str(folder),
                    "GIT_HTTP_EXPORT_ALL": "1",
                    "GIT_CONFIG_COUNT": "1",
                    "GIT_CONFIG_KEY_0": "safe.directory",
                    "GIT_CONFIG_VALUE_0": "*",
                    "PATH_INFO": path,
                    "QUERY_STRING": query,
                    "REQUEST_METHOD": self.command,
                    "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                    "CONTENT_LENGTH": str(len(body)),
                    "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                },
                input=body,
                capture_output=True,
                timeout=300,
                check=False,
            )
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
            served.sent += len(content)
            self.send_response(int(fields.pop("Status", "200 OK").split()[0]))
            for name, value in fields.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.port = server.server_address[1]
    served.url = f"http://127.0.0.1:{served.port}/"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join(120)
