"""Sources of kind `files`: folders of this machine."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ingest.dates import from_timestamp
from ingest.fetch.files import list_folder, open_file
from ingest.parse.formats.registry import file_suffixes, is_listed
from ingest.plan.scope import sole_match
from ingest.sources.results import largest_file, passed_over, result_of, until_stopped
from ingest.urls import file_path, file_url
from schemas.errors import GuardRefused, SitegraphError
from schemas.fetch import FetchRequest, FetchResult, FetchStatus
from schemas.nodes import DateOrigin
from schemas.report import Problem
from schemas.source import Source
from schemas.source_kinds import Keys, OpenSource, SourceContext, SourceEntry, SourceKind, SourceListing


class _Folders:
    def __init__(self, source: Source) -> None:
        self._source = source

    def discover(self, *, should_stop: Callable[[], bool]) -> SourceListing:  # noqa: ARG002 - it takes no time
        """List the files under the roots; of equal paths the first root's counts.

        Where the scope names single files, these alone are looked at: the folder around them may be large.
        """
        uris: set[str] = set()
        skipped: list[Problem] = []
        others: list[str] = []

        def on_skip(path: str, reason: str) -> None:
            skipped.append(Problem(url=file_url(self._source.name, path), reason=f"left out: {reason}"))

        named = _named(self._source.scope.include)
        for root in self._source.roots:
            if not Path(root).is_dir():
                raise GuardRefused("root folder does not exist; nothing was changed", subject=root)
            paths = list_folder(
                Path(root),
                suffixes=file_suffixes(),
                on_skip=on_skip,
                on_other=others.append,
                is_listed=is_listed,
                named=named,
            )
            uris.update(file_url(self._source.name, path) for path in paths)
        problems = (*skipped, *passed_over(self._source, others))
        return SourceListing(entries=tuple(SourceEntry(uri=uri) for uri in sorted(uris)), problems=problems)

    def fetch(
        self,
        requests: Sequence[FetchRequest],
        *,
        on_result: Callable[[FetchResult], None],
        should_stop: Callable[[], bool],
    ) -> None:
        for request in until_stopped(requests, should_stop, subject=self._source.name):
            on_result(self._read(request.url))

    def _read(self, uri: str) -> FetchResult:
        path = file_path(uri)
        try:
            root = next((r for r in self._source.roots if (Path(r) / path).is_file()), None)
        except OSError as error:
            why = f"its folder cannot be read ({error.strerror})"
            return result_of(uri, FetchStatus.REFUSED, reason=why)
        if root is None:
            return result_of(uri, FetchStatus.GONE, reason="file deleted")
        try:
            size, key = largest_file(self._source.limits, path)
            file = open_file(Path(root), path, max_bytes=size, key=key)
        except SitegraphError as error:
            return result_of(uri, FetchStatus.REFUSED, reason=error.message)
        modified = from_timestamp(file.modified, DateOrigin.FILE)
        return result_of(uri, FetchStatus.OK, body=file.body, modified=modified)


def _named(include: Sequence[str]) -> tuple[str, ...] | None:
    """Return the paths of a scope that means single files; None for one that means more."""
    named = tuple(path for glob in include if (path := sole_match(glob)) is not None)
    return named if named and len(named) == len(include) else None


@contextmanager
def _open(source: Source, _context: SourceContext) -> Iterator[OpenSource]:
    yield _Folders(source)


KIND = SourceKind(name="files", keys=Keys, open=_open, origin="folder", by_path=True, shared=("roots",))
