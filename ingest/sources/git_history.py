"""When each file of a commit was last changed, as far as the history is there.

Commits are gone back through only as far as the files need it that somebody asks for, so a run that reads
what changed since the last one looks at little more than the commits in between.
"""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Protocol

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
