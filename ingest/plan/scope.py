"""Which documents belong to a source."""

from fnmatch import fnmatchcase
from functools import lru_cache

from ingest.plan.traps import numbered_refusal, path_refusal
from ingest.urls import canonical_url, file_path, folder_of, is_file_url
from schemas.source import Source


def scope_refusal(uri: str, source: Source, *, depth: int = 0) -> str | None:
    """Say why a document does not belong to the source, or lies beyond a budget; None when it belongs."""
    return outside_refusal(uri, source) or budget_refusal(uri, source, depth=depth)


def outside_refusal(uri: str, source: Source) -> str | None:
    """Say why the source file does not mean a document; None when it does.

    Seeds always belong. Without `include`, everything under each seed's folder does, or all where there is
    no seed.
    """
    if _is_seed(uri, source):
        return None
    subject = scope_subject(uri)
    if any(fnmatchcase(subject, glob) for glob in source.scope.exclude):
        return "excluded by scope.exclude"
    return None if _included(subject, source) else "outside the source's scope"


def is_inside(source: Source, uri: str) -> bool:
    """Whether the source file means a document, budgets aside."""
    return outside_refusal(uri, source) is None


def budget_refusal(uri: str, source: Source, *, depth: int) -> str | None:
    """Say which budget an address goes beyond by itself, whatever else is known.

    None for seeds, and where there are none: then nothing leads on, and there is no trap.
    """
    if not source.seeds or _is_seed(uri, source):
        return None
    deepest = source.scope.max_depth
    if deepest is None:
        return path_refusal(uri) or numbered_refusal(uri, depth=depth)
    return f"deeper than max_depth {deepest}" if depth > deepest else path_refusal(uri)


def is_exempt(uri: str, source: Source) -> bool:
    """Whether the source file says that a page is content, whatever it looks like."""
    return any(fnmatchcase(uri, glob) for glob in source.quarantine.exempt)


def seed_urls(source: Source) -> tuple[str, ...]:
    """The seeds in canonical form."""
    return _canonical(source.seeds)


@lru_cache(maxsize=64)
def _canonical(seeds: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(url for seed in seeds if (url := canonical_url(seed)) is not None)


def scope_subject(uri: str) -> str:
    """What the globs are matched against: the canonical URL, or the path under the root."""
    return file_path(uri) if is_file_url(uri) else uri


def _is_seed(uri: str, source: Source) -> bool:
    return uri in seed_urls(source)


def _included(subject: str, source: Source) -> bool:
    if source.scope.include:
        return any(fnmatchcase(subject, glob) for glob in source.scope.include)
    if not source.seeds:
        return True
    return any(subject.startswith(folder_of(seed)) for seed in seed_urls(source))
