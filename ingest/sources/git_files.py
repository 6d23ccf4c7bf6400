"""Files of a commit: which are documents, and when each was last changed.

Commits are gone back through only as far as the files need it that somebody asks for, so a run that reads
what changed since the last one looks at little more than the commits in between.
"""

import heapq
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import PurePosixPath
from typing import Protocol

from ingest.fetch.files import is_denied
from ingest.parse.formats.registry import file_suffixes, is_listed
from schemas.errors import GuardRefused
from schemas.formats import HEAD_BYTES

MAX_ENTRIES = 1_000_000
"""Of all trees: some hundred bytes of trees in trees can stand for as many files as anyone likes."""

_SUBMODULE = 0o160000


class Trees(Protocol):
    """Reads trees."""

    def tree_of(self, commit: str) -> str:
        """Id of a commit's tree."""

    def entries(self, tree: str) -> Sequence[tuple[bytes, int, str]]:
        """Name, mode and id of what a tree holds. Raises: KeyError: it is not there."""

    def read_blob(self, blob: str) -> bytes:
        """Bytes of a file. Raises: KeyError: it is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Ids of the documents' blobs by path, in order, and path and reason of what was left out."""

    commit: str
    blobs: Mapping[str, str]
    left_out: tuple[tuple[str, str], ...]


def list_tree(trees: Trees, commit: str, *, folders: Sequence[str]) -> Snapshot:
    """List the documents under *folders* (none: everywhere) as `files` would list those of a checkout.

    Raises: GuardRefused: a tree is missing, or there are too many.
    """
    blobs: dict[str, str] = {}
    left_out: list[tuple[str, str]] = []
    suffixes = file_suffixes()
    try:
        for path, mode, blob in _walk(trees, commit, folders):
            is_document = bool(PurePosixPath(path).suffix) and path.lower().endswith(suffixes)
            if reason := _why_not(path, mode):
                if is_document or not stat.S_ISREG(mode):
                    left_out.append((path, reason))
            elif is_document or is_listed(path, partial(_head, trees, blob)):
                blobs[path] = blob
    except KeyError as error:
        raise GuardRefused(f"is not whole (no object {error}); nothing was changed", subject=commit) from None
    return Snapshot(commit=commit, blobs=dict(sorted(blobs.items())), left_out=tuple(sorted(left_out)))


def _head(trees: Trees, blob: str) -> bytes:
    try:
        return trees.read_blob(blob)[:HEAD_BYTES]
    except KeyError:
        return b""


def _walk(trees: Trees, commit: str, folders: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    waiting, seen = [("", trees.tree_of(commit))], 0
    while waiting:
        folder, tree = waiting.pop()
        for name, mode, identifier in trees.entries(tree):
            seen += 1
            if seen > MAX_ENTRIES:
                raise GuardRefused(f"has more than {MAX_ENTRIES} files; nothing was changed", subject=commit)
            path = f"{folder}{name.decode('utf-8', 'surrogateescape')}"
            if not stat.S_ISDIR(mode):
                if _is_under(path, folders):
                    yield path, mode, identifier
            elif _leads_to(path, folders) and not is_denied(path) and _is_name(name):
                waiting.append((f"{path}/", identifier))


def _why_not(path: str, mode: int) -> str:
    if mode == _SUBMODULE:
        return "it is a submodule"
    if stat.S_ISLNK(mode):
        return "it is a symbolic link"
    if is_denied(path):
        return "its name marks a secret"
    if not path.isprintable() or not _is_name(path.rpartition("/")[2].encode("utf-8", "surrogateescape")):
        return "its name is not readable text"
    return "" if stat.S_ISREG(mode) else "not a regular file"


def _is_name(name: bytes) -> bool:
    """Whether a tree may hold this name; git makes no other, but somebody else may."""
    return name not in (b"", b".", b"..") and b"/" not in name and b"\0" not in name


def _is_under(path: str, folders: Sequence[str]) -> bool:
    return not folders or any(path.startswith(f"{folder}/") for folder in folders)


def _leads_to(path: str, folders: Sequence[str]) -> bool:
    """Whether a folder is one of *folders*, below one or on the way to one."""
    return _is_under(f"{path}/", folders) or any(folder.startswith(f"{path}/") for folder in folders)


MAX_COMMITS = 10_000
"""That are gone back through; files that none of them changed have no date."""

Entries = Mapping[bytes, tuple[int, str]]


class Commits(Protocol):
    """Reads commits and trees."""

    def commit_of(self, commit: str) -> tuple[str, tuple[str, ...], int]:
        """Tree, parents and time of a commit, in seconds since 1970. Raises: KeyError: it is not there."""

    def entries(self, tree: str) -> Sequence[tuple[bytes, int, str]]:
        """Name, mode and id of what a tree holds. Raises: KeyError."""


class ChangeTimes:
    """Times of the last commits that changed files, read from the newest on."""

    def __init__(self, history: Commits, commit: str) -> None:
        self._known: dict[tuple[str, str], int] = {}
        self._changes = _changes(history, commit)

    def of(self, path: str, blob: str) -> int | None:
        """When the file at *path* was last changed to *blob*, which the commit that is read has there.

        In seconds since 1970; None where no commit tells. What a merge discarded left another blob.
        """
        while (path, blob) not in self._known:
            change = next(self._changes, None)
            if change is None:
                return None
            self._known.setdefault(*change)
        return self._known[path, blob]


def _changes(history: Commits, commit: str) -> Iterator[tuple[tuple[str, str], int]]:
    """Paths that commits changed, the blobs that they left there and the time, newest first.

    A merge has those that it alone changed.
    """
    number = count()
    waiting, seen = [(-history.commit_of(commit)[2], next(number), commit)], {commit}
    for _ in range(MAX_COMMITS):
        if not waiting:
            return
        tree, parents, time = history.commit_of(heapq.heappop(waiting)[2])
        try:
            befores = [history.commit_of(parent) for parent in parents]
            changed = tuple(_differing(history, tree, [before[0] for before in befores]))
        except KeyError:  # a shallow repository ends here, or a tree is lost: what changed cannot be told
            continue
        yield from ((one, time) for one in changed)
        for parent, (_, _, then) in zip(parents, befores, strict=True):
            if parent not in seen:
                seen.add(parent)
                heapq.heappush(waiting, (-then, next(number), parent))


def _differing(history: Commits, tree: str, befores: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Paths and blobs of files in *tree* that none of the trees before has as they are."""
    waiting = [("", tree, tuple(befores))]
    while waiting:
        folder, now, then = waiting.pop()
        if now in then:
            continue
        held = [_entries(history, one) for one in then]
        for name, (mode, identifier) in _entries(history, now).items():
            before = [one.get(name) for one in held]
            if (mode, identifier) in before:
                continue
            path = f"{folder}{name.decode('utf-8', 'surrogateescape')}"
            if mode == 0o040000:
                trees = tuple(one[1] for one in before if one is not None and one[0] == mode)
                waiting.append((f"{path}/", identifier, trees))
            else:
                yield path, identifier


def _entries(history: Commits, tree: str) -> Entries:
    return {name: (mode, identifier) for name, mode, identifier in history.entries(tree)}
