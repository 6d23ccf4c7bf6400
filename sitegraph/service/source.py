"""The source of what answers, for everybody whom it answers (AGPL-3.0, section 13)."""

import gzip
import io
import tarfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from schemas.errors import ConfigError

PATH = "/source"
NAME = "sitegraph-source.tar.gz"
LICENCE_URL = "https://www.gnu.org/licenses/agpl-3.0.html"

_ROOT = Path(__file__).resolve().parents[2]
_PACKAGES = ("flows", "indexes", "ingest", "retrieval", "runtime", "schemas", "sitegraph")
_PROJECT = ("pyproject.toml", "README.md", "LICENSE-NOTICE.md")
"""What building takes besides the packages; a wheel contains it in `sitegraph/service/project`."""


def link_header(source_url: str | None) -> str:
    """Return the `Link` header of an answer: to the licence, and to the source that it asks to be offered.

    Source: RFC 8288, 3.3 (a relation that is not registered is named by a URI); RFC 4946 (`license`).
    """
    offered = f'<{source_url or PATH}>; rel="{LICENCE_URL}#section13"; title="source"'
    return f'<{LICENCE_URL}>; rel="license", {offered}'


def check_source_url(url: str | None) -> None:
    """Raise ConfigError unless *url* is one that a browser can open, or None."""
    try:
        parts = urlsplit(url or "https://none")
    except ValueError:
        parts = urlsplit("")
    plain = url is None or (url.isascii() and url.isprintable() and not set(' <>"') & set(url))
    if parts.scheme not in ("http", "https") or not parts.hostname or not plain:
        raise ConfigError(
            "must be an http or https URL where the source of this version is", subject="SITEGRAPH_SOURCE_URL"
        )


@cache
def source_archive(root: Path = _ROOT) -> bytes:
    """Return what runs here as tar.gz, from which `pip install .` builds it; equal files, equal bytes."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, file in _files(root):
            data = file.read_bytes()
            entry = tarfile.TarInfo(f"sitegraph/{name}")
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return gzip.compress(packed.getvalue(), mtime=0)


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    project = root / "sitegraph" / "service" / "project"
    for name in _PROJECT:
        yield name, next(file for file in (project / name, root / name) if file.is_file())
    for package in _PACKAGES:
        for file in sorted((root / package).rglob("*")):
            if file.is_file() and file.parent != project and not _is_foreign(file, root):
                yield file.relative_to(root).as_posix(), file


def _is_foreign(file: Path, root: Path) -> bool:
    """What others leave among the modules, or lead to from there: caches, hidden files, links."""
    hidden = any(part.startswith(".") for part in file.relative_to(root).parts)
    return hidden or file.is_symlink() or file.suffix == ".pyc"
