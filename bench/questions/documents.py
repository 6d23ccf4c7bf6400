"""The documents that the questions are about, each set indexed once by `sitegraph run` and kept.

Sites are served on loopback and crawled, as users do; PDFs are read as files.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.fakes.real_sites import unpack

CACHE = Path(__file__).parents[2] / ".cache" / "bench-questions" / os.environ.get("SITEGRAPH_MODEL", "")
"""Indexes of each model apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSet:
    """Where documents lie: in an archive of the data folder, or in a package of Debian.

    `seed` is where a crawl begins; without it *file*, or every file below *folder*, is read.
    """

    folder: str
    archive: str = ""
    version: str = ""
    package: str = ""
    seed: str | None = None
    file: str | None = None


SETS: Mapping[str, DocumentSet] = {
    "flask": DocumentSet(
        archive="sites/flask.tar.xz",
        version="3.1.1-1+deb13u1",
        folder="usr/share/doc/python-flask-doc/html",
        seed="index.html",
    ),
    "debian-policy": DocumentSet(
        archive="twins/debian-policy.tar.xz",
        version="4.7.2.0",
        folder="usr/share/doc/debian-policy/policy.html",
        seed="index.html",
    ),
    "bash": DocumentSet(
        archive="twins/bash.tar.xz",
        version="5.2.15-2",
        folder="usr/share/doc/bash",
        file="bashref.pdf",
    ),
    "developers-reference": DocumentSet(
        archive="twins/developers-reference.tar.xz",
        version="13.20",
        folder="usr/share/developers-reference",
        file="developers-reference.pdf",
    ),
    "git": DocumentSet(
        archive="sites/git.tar.xz",
        version="2.47.3-0+deb13u1",
        folder="usr/share/doc/git-doc",
        seed="git.html",
    ),
    "postgresql": DocumentSet(
        archive="sites/postgresql.tar.xz",
        version="15.20-0+deb12u1",
        folder="usr/share/doc/postgresql-doc-15/html",
        seed="index.html",
    ),
    "apache": DocumentSet(
        package="apache2-doc", folder="usr/share/doc/apache2-doc/manual/en", seed="index.html"
    ),
    "octave": DocumentSet(package="octave-doc", folder="usr/share/doc/octave/octave.html", seed="index.html"),
    "exim": DocumentSet(
        package="exim4-doc-html", folder="usr/share/doc/exim4-doc-html/spec_html", seed="index.html"
    ),
    "python-docs": DocumentSet(
        package="python3.11-doc", folder="usr/share/doc/python3.11/html", seed="index.html"
    ),
    "rust-book": DocumentSet(
        package="rust-doc", folder="usr/share/doc/rust-doc/html/book", seed="index.html"
    ),
    "fastapi-docs": DocumentSet(archive="league/fastapi.tar.xz", version="fastapi", folder=""),
    "react-dev": DocumentSet(archive="league/react.tar.xz", version="react", folder="src/content"),
}


def unpack_documents(name: str, *, cache: Path = CACHE) -> Path:
    """Return the folder that the places of a set are relative to."""
    one, home = SETS[name], cache / name / "documents"
    root = home / one.version / one.folder
    if not root.is_dir():
        _unpack_package(one.package, home) if one.package else unpack(one.archive, one.version, home)
    return root


def _unpack_package(package: str, home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    subprocess.run(["apt-get", "download", package], cwd=home, check=True, stdout=sys.stderr)
    (file,) = home.glob(f"{package}_*.deb")
    subprocess.run(["dpkg-deb", "-x", file.name, "."], cwd=home, check=True)


def build_index(name: str, *, cache: Path = CACHE) -> Path:
    """Return the index of a set; the first call builds it, which takes minutes."""
    home = cache / name
    index, done = home / "index", home / "built"
    if not done.exists():
        root = unpack_documents(name, cache=cache)
        one = SETS[name]
        if one.seed:
            with serve(root) as host:
                _run(home, _web_source(name, host, one.seed))
        else:
            _run(home, f"name: {name}\nkind: files\nroots: ['{_files(one, root, home)}']\n")
        done.touch()
    return index


def _files(one: DocumentSet, root: Path, home: Path) -> Path:
    if not one.file:
        return root
    only = home / "file"
    only.mkdir(exist_ok=True)
    (only / one.file).write_bytes((root / one.file).read_bytes())
    return only


def _web_source(name: str, host: str, seed: str) -> str:
    return (
        f"name: {name}\nkind: web\nseeds: ['http://{host}/{seed}']\nallow_private: ['{host}']\n"
        "rate: {per_host_delay: 0}\n"
    )


def _run(home: Path, source: str) -> None:
    file = home / "source.yaml"
    file.write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "sitegraph.cli.app", "run", str(file), "--index", str(home / "index")]
    subprocess.run(command, check=True, stdout=sys.stderr, env=dict(os.environ))


class _Quiet(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing of requests."""


@contextmanager
def serve(root: Path) -> Iterator[str]:
    """Serve *root* on a free loopback port and give its address, `host:port`."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(root))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
