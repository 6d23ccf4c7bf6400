"""What somebody names who has no source file yet: a site, a folder, a repository, an archive, a document."""

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ingest.parse.formats.registry import file_suffixes
from ingest.urls import canonical_url, host_port, is_file_url
from schemas.errors import ConfigError

_WARC = (".warc", ".warc.gz")
_GIT = ("HEAD", "objects", "refs")
"""What a bare repository consists of. Source: gitrepository-layout(5)."""

_NAME_LENGTH = 64
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class TargetKind(StrEnum):
    """What was named."""

    SITE = "site"
    FOLDER = "folder"
    REPOSITORY = "repository"
    ARCHIVE = "archive"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A canonical URL or an absolute path, what it is, and the name of a source made of it."""

    kind: TargetKind
    place: str
    name: str

    @property
    def is_url(self) -> bool:
        """Whether it is reached over the network."""
        return _SCHEME.match(self.place) is not None


def is_source_file(text: str) -> bool:
    """Whether an argument names a source file: by its ending, or as a file that is none of the documents."""
    if _SCHEME.match(text):
        return False
    if text.lower().endswith((".yaml", ".yml")):
        return True
    path = Path(text)
    return path.is_file() and not path.name.lower().endswith((*file_suffixes(shared=True), *_WARC))


def find_target(text: str) -> Target:
    """Say what an argument names.

    Raises: ConfigError: no http(s) URL, or nothing is there; the message says how to name it.
    """
    if _SCHEME.match(text):
        return _remote(text)
    path = Path(text).expanduser()
    if not path.exists():
        raise ConfigError(
            "is not a file or folder; give a website or a remote repository with its https://", subject=text
        )
    real = path.resolve()
    return Target(
        kind=_local_kind(real), place=str(real), name=make_name(real.stem if real.is_file() else real.name)
    )


def make_name(text: str) -> str:
    """Return a name that a source may have, made of *text*."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")
    return plain[:_NAME_LENGTH].strip("-._") or "source"


def name_of_site(url: str) -> str:
    """Return a source's name: the host without www, and what words of the path say."""
    host = host_port(url)[0].removeprefix("www.")
    path = url.partition("://")[2].partition("/")[2].partition("?")[0]
    names = [part for part in path.split("/")[:-1] if part]
    return make_name("-".join([host, *names[-2:]]))


def _remote(text: str) -> Target:
    url = canonical_url(text)
    if url is None or is_file_url(url):
        raise ConfigError(
            "is not an http or https URL (without user name and password); nothing else is fetched",
            subject=text,
        )
    path = url.partition("://")[2].partition("/")[2].removesuffix("/")
    if path.endswith(".git"):
        return Target(
            kind=TargetKind.REPOSITORY, place=url.removesuffix("/"), name=make_name(Path(path).stem)
        )
    kind = TargetKind.DOCUMENT if path.lower().endswith(".pdf") else TargetKind.SITE
    name = make_name(Path(path).stem) if kind is TargetKind.DOCUMENT else name_of_site(url)
    return Target(kind=kind, place=url, name=name)


def _local_kind(path: Path) -> TargetKind:
    if path.is_dir():
        is_bare = all((path / name).exists() for name in _GIT)
        return TargetKind.REPOSITORY if is_bare or (path / ".git").exists() else TargetKind.FOLDER
    if path.name.lower().endswith(_WARC):
        return TargetKind.ARCHIVE
    if path.name.lower().endswith(file_suffixes(shared=True)):
        return TargetKind.DOCUMENT
    raise ConfigError(
        f"is not a document that sitegraph reads ({', '.join(file_suffixes())}), nor a source file (.yaml)",
        subject=str(path),
    )
