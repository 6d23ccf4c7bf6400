"""The kinds of sources that are installed, and what each cites a document by."""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from ingest.urls import file_path, file_url, is_file_url
from schemas.errors import ConfigError
from schemas.settings import extra_of
from schemas.source import Source
from schemas.source_kinds import GROUP, NAME, Identity, SourceKind

OURS: Mapping[str, str] = {
    "web": "ingest.sources.web:KIND",
    "files": "ingest.sources.files:KIND",
    "git": "ingest.sources.git:KIND",
    "warc": "ingest.sources.warc:KIND",
}
"""Kinds of ours, one a line; each is imported when a source is of it."""


@cache
def kind_named(name: str) -> SourceKind:
    """Return the kind of that name.

    Raises: ConfigError: there is none; or it does not load, is no kind, or is named otherwise.
    """
    points = _points()
    if name not in points:
        raise ConfigError(f"no such kind of source; installed are: {', '.join(points)}", subject=name)
    return load_kind(points[name])


def kind_names() -> tuple[str, ...]:
    """Names of all installed kinds, our own first; none is imported."""
    return tuple(_points())


def load_kind(point: EntryPoint) -> SourceKind:
    """Import a kind. Raises: ConfigError, which names the package."""
    try:
        found = point.load()
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and extra_of(error.name or ""):
            raise  # what to install is said where all commands say it
        why = f"{type(error).__name__}: {error}"
        raise ConfigError(f"{_package(point)} does not load ({why})", subject=f"kind {point.name}") from error
    if not isinstance(found, SourceKind):
        raise _refused(point, "does not give a schemas.source_kinds.SourceKind")
    if found.name != point.name or not NAME.fullmatch(found.name):
        raise _refused(point, f"calls its kind {found.name!r}; the entry point and the kind have one name")
    return found


@cache
def _points() -> Mapping[str, EntryPoint]:
    """Kinds by name. One of another package never takes the place of ours."""
    found = {name: EntryPoint(name=name, value=value, group=GROUP) for name, value in OURS.items()}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        found.setdefault(point.name, point)
    return found


def _refused(point: EntryPoint, why: str) -> ConfigError:
    return ConfigError(f"{_package(point)} {why}", subject=f"kind {point.name}")


def _package(point: EntryPoint) -> str:
    return f"package {point.dist.name}" if point.dist is not None else point.value


def identify(source: Source, uri: str, etag: str | None) -> Identity:
    """Return address and path that readers cite the document *uri* by; *etag* is that of its bytes."""
    own = kind_named(source.kind).identify
    return own(source, uri, etag) if own is not None else by_uri(uri)


def citing(source: Source) -> Mapping[str, str | None]:
    """Say how a source's kind cites documents, where the source file has a say in it."""
    if kind_named(source.kind).identify is None:
        return {}
    identity = identify(source, file_url(source.name, "path"), "content version")
    return {"cited_url": identity.url, "cited_path": identity.path, "cited_line": identity.line}


def by_uri(uri: str) -> Identity:
    """Cite a document by its path where its URI is `files://source/path`, else by its URI."""
    return Identity(path=file_path(uri)) if is_file_url(uri) else Identity(url=uri)
