"""Sources of kind `git`: the files of a repository at one commit, from a folder or over http(s)."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dulwich.errors import NotGitRepository
from dulwich.objects import Blob, Commit, ObjectID, Tag, Tree
from dulwich.repo import Repo

from ingest.dates import from_timestamp
from ingest.sources.git_files import ChangeTimes, Snapshot, list_tree
from ingest.sources.git_keys import GitKeys, find_ref, is_remote_address, link_to
from ingest.sources.results import largest_file, result_of, until_stopped
from ingest.urls import file_path, file_url
from schemas.errors import GuardRefused
from schemas.fetch import FetchRequest, FetchResult, FetchStatus
from schemas.nodes import Dated, DateOrigin
from schemas.report import Problem
from schemas.source import Source
from schemas.source_kinds import Identity, OpenSource, SourceContext, SourceEntry, SourceKind, SourceListing

_TAGS = 10
"""Tags of tags that are followed."""


class Repository:
    """Commits, trees and blobs by their ids in hexadecimal digits.

    *update* brings what a ref means into *repo*, and gives its id; it is called once.
    """

    def __init__(self, repo: Any, told: str, update: Callable[[Callable[[], bool]], ObjectID]) -> None:
        self._repo = repo
        self._told = told
        self._update = update

    def resolve(self, ref: str | None, *, should_stop: Callable[[], bool]) -> str:
        """Return the commit that a branch, tag or id means. Raises: GuardRefused: it means none."""
        identifier = self._update(should_stop)
        for _ in range(_TAGS):
            try:
                found = self._repo[identifier]
            except KeyError:
                break
            if isinstance(found, Commit):
                return str(found.id.decode())
            if not isinstance(found, Tag):
                break
            identifier = found.object[1]
        raise GuardRefused(f"{ref or 'HEAD'} means no commit; nothing was changed", subject=self._told)

    def tree_of(self, commit: str) -> str:
        """Id of a commit's tree."""
        return str(self._repo[commit.encode()].tree.decode())

    def commit_of(self, commit: str) -> tuple[str, tuple[str, ...], int]:
        """Tree, parents and time of a commit, in seconds since 1970. Raises: KeyError: it is not there."""
        found = self._repo[commit.encode()]
        if not isinstance(found, Commit):
            raise KeyError(commit)
        parents = tuple(parent.decode() for parent in found.parents)
        return str(found.tree.decode()), parents, int(found.commit_time)

    def entries(self, tree: str) -> Sequence[tuple[bytes, int, str]]:
        """Name, mode and id of what a tree holds. Raises: KeyError."""
        found = self._repo[tree.encode()]
        if not isinstance(found, Tree):
            raise KeyError(tree)
        return [(entry.path, entry.mode, entry.sha.decode()) for entry in found.items()]

    def read_blob(self, blob: str) -> bytes:
        """Return the bytes of a file. Raises: KeyError: it is not there, or no file."""
        number, data = self._repo.object_store.get_raw(blob.encode())
        if number != Blob.type_num:
            raise KeyError(blob)
        return bytes(data)


@contextmanager
def _open_repository(source: Source, context: SourceContext) -> Iterator[Repository]:
    """Open the repository that a source names; nothing is fetched yet.

    Raises: GuardRefused: there is none.
    """
    keys = GitKeys.of(source)
    if is_remote_address(keys.repository):
        from ingest.sources.git_remote import open_cache

        with open_cache(source, keys, context) as (repo, update):
            yield Repository(repo, keys.repository, update)
        return
    with _open_folder(Path(keys.repository)) as repo:
        yield Repository(repo, keys.repository, lambda _should_stop: find_ref(repo.refs, keys))


@contextmanager
def _open_folder(folder: Path) -> Iterator[Repo]:
    try:
        repo = Repo(str(folder))
    except (NotGitRepository, OSError) as error:
        raise GuardRefused("is not a git repository; nothing was changed", subject=str(folder)) from error
    with repo:
        yield repo


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
    with _open_repository(source, context) as repository:
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
    reaches_out=lambda source: is_remote_address(GitKeys.of(source).repository),
)
