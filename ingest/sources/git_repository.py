"""A repository opened for reading: one of this machine where it lies, a remote one in a cache of its own."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dulwich.errors import NotGitRepository
from dulwich.objects import Blob, Commit, ObjectID, Tag, Tree
from dulwich.repo import Repo

from ingest.sources.git_keys import GitKeys, is_remote
from ingest.sources.git_refs import find_ref
from schemas.errors import GuardRefused
from schemas.source import Source
from schemas.source_kinds import SourceContext

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
def open_repository(source: Source, context: SourceContext) -> Iterator[Repository]:
    """Open the repository that a source names; nothing is fetched yet.

    Raises: GuardRefused: there is none.
    """
    keys = GitKeys.of(source)
    if is_remote(keys.repository):
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
