"""Real sites whose versions are served one after the other at one address, and what a run left behind."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lancedb

from tests.fakes.site_server import Script, Site, serve, with_validators
from tests.fakes.sitegraph_runs import Sitegraph

TABLES = ("chunks", "nodes", "edges")


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """What the stores hold; two equal ones mean that nothing was written in between."""

    table_versions: Mapping[str, int]
    files: Mapping[str, tuple[int, int]]
    vectors: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A source whose site changes under it."""

    sitegraph: Sitegraph
    site: Site
    source: Path
    index: Path

    def run(self, version: Path) -> dict[str, Any]:
        """Serve a version in place of the one before, crawl it, and give the report."""
        self.site.pages = pages_of(version)
        return self.sitegraph.run(self.source, self.index)

    def live(self) -> frozenset[str]:
        """Paths of the documents that readers see."""
        printed = self.sitegraph.command("export", "--what", "documents", "--index", str(self.index))
        assert printed.returncode == 0, printed.stderr
        urls = (json.loads(line)["url"] for line in printed.stdout.splitlines())
        return frozenset(as_path(url.removeprefix(self.site.url("/"))) for url in urls)

    def traces(self) -> Traces:
        """Read the stores themselves, past the program."""
        folder = self.index / "lance"
        database = lancedb.connect(str(folder))
        files = {str(f.relative_to(folder)): f.stat() for f in folder.rglob("*") if f.is_file()}
        return Traces(
            table_versions={name: database.open_table(name).version for name in TABLES},
            files={name: (stat.st_size, stat.st_mtime_ns) for name, stat in files.items()},
            vectors=count_vectors(self.index / "vectors.sqlite"),
        )


@contextmanager
def replay_site(sitegraph: Sitegraph, folder: Path) -> Iterator[Replay]:
    """A site that shows nothing yet, and a source that begins at its index.html."""
    with serve(Site()) as site:
        source = folder / "replay.yaml"
        source.write_text(
            f"name: replay\nkind: web\nseeds: ['{site.url('/index.html')}']\n"
            f"allow_private: ['{site.address}']\nrate: {{per_host_delay: 0}}\n"
            "recrawl: {gone_after: {misses: 1, hours: 0}}\n"
        )
        yield Replay(sitegraph=sitegraph, site=site, source=source, index=folder / "index")


def pages_of(folder: Path) -> dict[str, Script]:
    """Every HTML file under its path, with the hash of its bytes as ETag; a folder shows its index.html."""
    pages: dict[str, Script] = {}
    for file in folder.rglob("*.html"):
        body = file.read_bytes()
        path = f"/{file.relative_to(folder).as_posix()}"
        pages[path] = with_validators(body, etag=f'"{hashlib.sha256(body).hexdigest()[:32]}"')
        if file.name == "index.html":
            pages[path.removesuffix("index.html")] = pages[path]
    return pages


def as_path(name: str) -> str:
    """The file that is served under a name."""
    return f"{name}index.html" if name.endswith("/") or not name else name


def count_vectors(file: Path) -> int:
    """How many vectors the cache holds."""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        return int(connection.execute("SELECT count(*) FROM vector").fetchone()[0])
