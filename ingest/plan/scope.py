"""Which documents belong to a source."""

from fnmatch import fnmatchcase

from ingest.urls import canonical_url, file_path, folder_of
from schemas.source import Source, SourceKind


def scope_refusal(uri: str, source: Source, *, depth: int = 0) -> str | None:
    """Say why a document does not belong to the source; None when it does.

    Seeds always belong. Without `include`, everything under each seed's folder does.
    """
    if source.kind is SourceKind.WEB and uri in seed_urls(source):
        return None
    if source.scope.max_depth is not None and depth > source.scope.max_depth:
        return f"deeper than max_depth {source.scope.max_depth}"
    subject = scope_subject(uri, source)
    if any(fnmatchcase(subject, glob) for glob in source.scope.exclude):
        return "excluded by scope.exclude"
    return None if _included(subject, source) else "outside the source's scope"


def seed_urls(source: Source) -> tuple[str, ...]:
    """The seeds in canonical form."""
    return tuple(url for seed in source.seeds if (url := canonical_url(seed)) is not None)


def scope_subject(uri: str, source: Source) -> str:
    """What the globs are matched against: the canonical URL, or the path under the root."""
    return file_path(uri) if source.kind is SourceKind.FILES else uri


def _included(subject: str, source: Source) -> bool:
    if source.scope.include:
        return any(fnmatchcase(subject, glob) for glob in source.scope.include)
    if source.kind is SourceKind.FILES:
        return True
    return any(subject.startswith(folder_of(seed)) for seed in seed_urls(source))
