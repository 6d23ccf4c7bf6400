"""Documents of a local folder: which there are, and their bytes; nothing outside the root, ever."""

import errno
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePosixPath

from ingest.fetch.media import cap_in_words
from schemas.errors import FetchRefused
from schemas.formats import HEAD_BYTES

_DENIED = (".env*", "*.pem", "*.key", "id_*", ".git")
"""Names that contain secrets or history; no glob of a source file brings them back."""


_LOOP = "it is a link that leads back to itself"


def list_folder(
    root: Path,
    *,
    suffixes: tuple[str, ...],
    on_skip: Callable[[str, str], None],
    on_other: Callable[[str], None] = lambda _: None,
    is_listed: Callable[[str, Callable[[], bytes]], bool] = lambda *_: False,
    named: Collection[str] | None = None,
) -> tuple[str, ...]:
    """List the documents under *root* by relative path, in order, with `/` between names.

    A document is what has a name that ends with one of *suffixes*, in lower case, and what *is_listed* says
    yes to, given its path and what reads its first bytes. With *named*, these paths alone are looked at, and
    no folder is listed.

    *on_skip* hears path and reason of every document and folder left out, *on_other* the path of every other
    file that is no secret. Raises: FetchRefused: *root* is no
    folder.
    """
    top = root.resolve()
    if not top.is_dir():
        raise FetchRefused("no such folder; check `roots` of the source", subject=str(root))
    paths = _walk(top, on_skip) if named is None else _present(top, named)
    return tuple(sorted(_documents(top, paths, suffixes, on_skip, on_other, is_listed)))


def is_denied(path: str) -> bool:
    """Whether a name on the way to *path* marks secrets or history."""
    names = (name.lower() for name in PurePosixPath(path).parts)
    return any(fnmatchcase(name, glob) for name in names for glob in _DENIED)


def _walk(top: Path, on_skip: Callable[[str, str], None]) -> Iterator[str]:
    # A list of what is left, not a call for each folder: folders may lie deeper than Python calls.
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        for path, is_folder in _entries(top, folder, on_skip):
            if is_folder and not is_denied(path):
                waiting.append(f"{path}/")
            else:
                yield path


def _present(top: Path, named: Iterable[str]) -> Iterator[str]:
    """Those paths that a walk would come to: each spelt as there, and through no link."""
    for path in named:
        pure = PurePosixPath(path)
        spelt = str(pure) == path and not pure.is_absolute() and ".." not in pure.parts
        if spelt and _is_walked(top / pure.parent, path, top):
            yield path


def _is_walked(folder: Path, path: str, top: Path) -> bool:
    try:
        return folder.resolve() == folder and os.path.lexists(top / path)
    except (OSError, RuntimeError, ValueError):  # a loop of links, or no path; no walk goes there
        return False


def _documents(
    top: Path,
    paths: Iterable[str],
    suffixes: tuple[str, ...],
    on_skip: Callable[[str, str], None],
    on_other: Callable[[str], None],
    is_listed: Callable[[str, Callable[[], bytes]], bool],
) -> Iterator[str]:
    for path in paths:
        is_named = PurePosixPath(path).suffix and path.lower().endswith(suffixes)
        if not is_named and not is_listed(path, partial(_head, top, path)):
            if not is_denied(path):
                on_other(path)
        elif reason := _why_not(top, path):
            on_skip(path, reason)
        else:
            yield path


def _head(top: Path, path: str) -> bytes:
    """First bytes of a file that may be read; none of another."""
    try:
        return b"" if _why_not(top, path) else _read(top, path, HEAD_BYTES)[0]
    except (OSError, ValueError, RuntimeError, FetchRefused):
        return b""


def _entries(top: Path, folder: str, on_skip: Callable[[str, str], None]) -> list[tuple[str, bool]]:
    """Paths in a folder, and whether each is a folder itself; none of one that cannot be read."""
    try:
        with os.scandir(top / folder) as entries:
            found = [(f"{folder}{entry.name}", entry.is_dir(follow_symlinks=False)) for entry in entries]
    except OSError as error:
        on_skip(folder, f"the folder cannot be read ({error.strerror})")
        return []
    return sorted(found)


def _why_not(top: Path, path: str) -> str:
    if is_denied(path):
        return "its name marks a secret"
    if not path.isprintable():
        return "its name is not readable text"
    try:
        real = (top / path).resolve(strict=True)
    except (OSError, RuntimeError) as error:  # Python 3.11 names a loop of links by a RuntimeError
        return _LOOP if _is_loop(error) else "it cannot be read"
    if not real.is_relative_to(top):
        return "it lies outside the root"
    if is_denied(real.relative_to(top).as_posix()):
        return "it leads to a secret"
    return "" if real.is_file() else "not a regular file"


def _is_loop(error: Exception) -> bool:
    return isinstance(error, RuntimeError) or getattr(error, "errno", None) == errno.ELOOP


@dataclass(frozen=True, slots=True)
class LocalFile:
    """Bytes of a file, and when they were last written, in seconds since 1970."""

    body: bytes
    modified: float


def read_local_file(root: Path, path: str, *, max_bytes: int, key: str | None = None) -> bytes:
    """Read the bytes of one file as `open_file` does."""
    return open_file(root, path, max_bytes=max_bytes, key=key).body


def open_file(root: Path, path: str, *, max_bytes: int, key: str | None = None) -> LocalFile:
    """Read one file that `list_folder` named; *key* of a source file sets the cap.

    Opened name by name without following a link, so one that is put there in between leads nowhere.
    Raises: FetchRefused: outside the root, denied, no regular file, larger than *max_bytes*.
    """
    top = root.resolve()
    reason = _why_not(top, path)
    if reason:
        raise FetchRefused(reason, subject=path)
    try:
        body, modified = _read(top, path, max_bytes + 1)
    except (OSError, ValueError, RuntimeError) as error:
        raise FetchRefused(f"it cannot be opened ({error})", subject=path) from None
    if len(body) > max_bytes:
        raise FetchRefused(f"exceeds {cap_in_words(max_bytes, key)}", subject=path)
    return LocalFile(body, modified)


def _read(top: Path, path: str, size: int) -> tuple[bytes, float]:
    """Return up to *size* bytes of a regular file, and when it was last written."""
    descriptor = _open_inside(top, (top / path).resolve().relative_to(top))
    with open(descriptor, "rb") as file:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise FetchRefused("not a regular file", subject=path)
        return file.read(size), info.st_mtime


def _open_inside(top: Path, relative: Path) -> int:
    folder = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in relative.parts[:-1]:
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        # Not blocking: opening a pipe that took the file's place would wait for a writer.
        return os.open(relative.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    finally:
        os.close(folder)
