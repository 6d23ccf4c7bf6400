"""What disks and people do to the files of an index."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

PAGE = 4096
_NAMES = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{20,}|\d+")

Damage = Callable[[Path], bool]
"""Harms a file; false where it would stay as it is."""


def kind_of(path: Path, index: Path) -> str:
    """Name the kind of a file: its path without numbers and hashes."""
    return _NAMES.sub("*", path.relative_to(index).as_posix())


def kinds(index: Path) -> dict[str, list[Path]]:
    """Files of an index by kind, the newest first."""
    found: dict[str, list[Path]] = {}
    for path in sorted(index.rglob("*"), key=lambda path: (-path.lstat().st_mtime_ns, path.as_posix())):
        if path.is_file():
            found.setdefault(kind_of(path, index), []).append(path)
    return found


def delete(path: Path) -> bool:
    path.unlink()
    return True


def halve(path: Path) -> bool:
    return _write(path, path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> bool:
    return _write(path, b"")


def flip(place: float) -> Damage:
    """Flip one bit so far into the file."""

    def flip_there(path: Path) -> bool:
        data = bytearray(path.read_bytes())
        if not data:
            return False
        data[min(len(data) - 1, int(len(data) * place))] ^= 0x04
        return _write(path, bytes(data))

    return flip_there


def zero(path: Path) -> bool:
    """Zero a page in the middle, or all of a small file."""
    data = bytearray(path.read_bytes())
    start = len(data) // 2 // PAGE * PAGE
    data[start : start + PAGE] = bytes(len(data[start : start + PAGE]))
    return _write(path, bytes(data))


def swap(path: Path) -> bool:
    """Put the next file of the same kind in its place, as of another generation."""
    index = next(parent for parent in path.parents if (parent / "index.json").exists())
    others = [other for other in kinds(index)[kind_of(path, index)] if other != path]
    return bool(others) and _write(path, others[0].read_bytes())


DAMAGES: dict[str, Damage] = {
    "delete": delete,
    "halve": halve,
    "empty": empty,
    "flip-start": flip(0.02),
    "flip-middle": flip(0.5),
    "flip-end": flip(0.97),
    "zero": zero,
    "swap": swap,
}


def cases(index: Path, *, of_each: int) -> Iterator[tuple[str, Path]]:
    """So many files of each kind."""
    for kind, paths in sorted(kinds(index).items()):
        for path in paths[:of_each]:
            yield kind, path.relative_to(index)


def _write(path: Path, data: bytes) -> bool:
    """Replace the file, so that one that is linked from elsewhere stays there as it was."""
    if data == path.read_bytes():
        return False
    path.unlink()
    path.write_bytes(data)
    return True
