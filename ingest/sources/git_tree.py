"""Which files of a commit are documents: by the rules that hold for folders, and nothing but plain files."""

import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol

from ingest.fetch.files import is_denied
from ingest.parse.formats.registry import file_suffixes
from schemas.errors import GuardRefused

MAX_ENTRIES = 1_000_000
"""Of all trees: some hundred bytes of trees in trees can stand for as many files as anyone likes."""

_SUBMODULE = 0o160000


class Trees(Protocol):
    """Reads trees."""

    def tree_of(self, commit: str) -> str:
        """Id of a commit's tree."""

    def entries(self, tree: str) -> Sequence[tuple[bytes, int, str]]:
        """Name, mode and id of what a tree holds. Raises: KeyError: it is not there."""


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
            elif is_document:
                blobs[path] = blob
    except KeyError as error:
        raise GuardRefused(f"is not whole (no object {error}); nothing was changed", subject=commit) from None
    return Snapshot(commit=commit, blobs=dict(sorted(blobs.items())), left_out=tuple(sorted(left_out)))


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
