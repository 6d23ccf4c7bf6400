"""Sources of kind `git`: the files of a repository at one commit, from a folder or over http(s)."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ingest.dates import from_timestamp
from ingest.sources.git_history import ChangeTimes
from ingest.sources.git_keys import GitKeys, is_remote, link_to
from ingest.sources.git_repository import Repository, open_repository
from ingest.sources.git_tree import Snapshot, list_tree
from ingest.sources.results import largest_file, result_of, until_stopped
from ingest.urls import file_path, file_url
from schemas.dates import Dated, DateOrigin
from schemas.errors import GuardRefused
from schemas.fetch import FetchRequest, FetchResult, FetchStatus
from schemas.report import Problem
from schemas.source import Source
from schemas.source_kinds import Identity, OpenSource, SourceContext, SourceEntry, SourceKind, SourceListing

_LFS = b"version https://git-lfs.github.com/spec/v1\n"
"""What stands in a repository for a file that Git LFS keeps. Source: git-lfs, docs/spec.md."""


class _Checkout:
    """The files at the commit that the ref meant when they were first asked for."""

    def __init__(self, source: Source, repository: Repository) -> None:
        self._source = source
        self._keys = GitKeys.of(source)
        self._repository = repository
        self._lock = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._times: ChangeTimes | None = None

    def discover(self, *, should_stop: Callable[[], bool]) -> SourceListing:
        snapshot = self._load(should_stop)
        if not snapshot.blobs and self._keys.folders:
            missing = ", ".join(self._keys.folders)
            raise GuardRefused(
                f"no documents in {missing}; nothing was changed", subject=self._keys.repository
            )
        name = self._source.name
        return SourceListing(
            entries=tuple(
                SourceEntry(uri=file_url(name, path), content=blob) for path, blob in snapshot.blobs.items()
            ),
            problems=tuple(
                Problem(url=file_url(name, path), reason=f"left out: {reason}")
                for path, reason in snapshot.left_out
            ),
        )

    def fetch(
        self,
        requests: Sequence[FetchRequest],
        *,
        on_result: Callable[[FetchResult], None],
        should_stop: Callable[[], bool],
    ) -> None:
        snapshot = self._load(should_stop)
        for request in until_stopped(requests, should_stop, subject=self._source.name):
            on_result(self._look(request, snapshot))

    def _load(self, should_stop: Callable[[], bool]) -> Snapshot:
        with self._lock:
            if self._snapshot is None:
                commit = self._repository.resolve(self._keys.ref, should_stop=should_stop)
                self._snapshot = list_tree(self._repository, commit, folders=self._keys.folders)
            return self._snapshot

    def _look(self, request: FetchRequest, snapshot: Snapshot) -> FetchResult:
        uri, path = request.url, file_path(request.url)
        blob = snapshot.blobs.get(path)
        if blob is None:
            return result_of(uri, FetchStatus.GONE, reason="file deleted")
        if request.etag is not None and request.etag.partition(" ")[0] == blob:
            return result_of(uri, FetchStatus.NOT_MODIFIED)
        size, key = largest_file(self._source.limits, path)
        with self._lock:
            try:
                body = self._repository.read_blob(blob)
            except KeyError:
                return result_of(uri, FetchStatus.REFUSED, reason=f"blob {blob} is not in the repository")
            modified = self._modified(path, blob, snapshot.commit)
        if len(body) > size:
            return result_of(uri, FetchStatus.REFUSED, reason=f"exceeds the cap of {size} bytes ({key})")
        if body.startswith(_LFS):
            return result_of(uri, FetchStatus.REFUSED, reason="Git LFS keeps it, which is not asked")
        etag = f"{blob} {snapshot.commit}"
        return result_of(uri, FetchStatus.OK, body=body, etag=etag, modified=modified)

    def _modified(self, path: str, blob: str, commit: str) -> Dated | None:
        """When a commit last changed the file; without its history, when the one was made that is read."""
        if self._times is None:
            self._times = ChangeTimes(self._repository, commit)
        time = self._times.of(path, blob)
        if time is not None:
            return from_timestamp(time, DateOrigin.GIT)
        return from_timestamp(self._repository.commit_of(commit)[2], DateOrigin.GIT_HEAD)


@contextmanager
def _open(source: Source, context: SourceContext) -> Iterator[OpenSource]:
    with open_repository(source, context) as repository:
        yield _Checkout(source, repository)


def _identify(source: Source, uri: str, etag: str | None) -> Identity:
    path, commit = file_path(uri), (etag or "").partition(" ")[2]
    link = GitKeys.of(source).link
    if not link or not commit:
        return Identity(path=path)
    return Identity(path=path, url=link_to(link, path, commit), line=link.partition("#")[2] or None)


KIND = SourceKind(
    name="git",
    keys=GitKeys,
    open=_open,
    origin="repository",
    by_path=True,
    shared=("auth",),
    proves_content=True,
    identify=_identify,
    reaches_out=lambda source: is_remote(GitKeys.of(source).repository),
)
