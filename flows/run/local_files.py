"""The documents of a source of files."""

from collections.abc import Callable
from pathlib import Path

from ingest.fetch.files import list_files
from ingest.parse.formats.registry import file_suffixes
from ingest.urls import file_url
from schemas.errors import GuardRefused
from schemas.source import Source


def file_uris(source: Source, *, on_skip: Callable[[str, str], None]) -> frozenset[str]:
    """URIs of the documents under the source's roots; of equal paths the first root's counts.

    *on_skip* hears path and reason of what is left out.

    Raises: GuardRefused: a root is not there, which must not read as if all its files were deleted.
    """
    uris: set[str] = set()
    for root in source.roots:
        if not Path(root).is_dir():
            raise GuardRefused("root folder is not there; nothing was changed", subject=root)
        found = list_files(Path(root), suffixes=file_suffixes(), on_skip=on_skip)
        uris.update(file_url(source.name, path) for path in found)
    return frozenset(uris)
