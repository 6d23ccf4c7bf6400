"""Copies of indexes for tests to write to."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from indexes.copies.fetching import WantedFile, part_file


def copy_index(index: Path, target: Path, *, ignore: str = "") -> Path:
    """Copy an index, or a folder with one, but for files of the name *ignore*; the encoder is linked.

    The encoder's 90 MB are nobody's to write to: what harms them must put another file in their place.
    """
    without = shutil.ignore_patterns(ignore) if ignore else None
    return Path(shutil.copytree(index, target, ignore=without, copy_function=_place))


def _place(source: str, target: str) -> str:
    if Path(source).parent.name.startswith("encoder"):
        os.link(source, target)
    else:
        shutil.copy2(source, target)
    return target


def link_parts_to_a_full_disk(copy: Path, files: Iterable[WantedFile]) -> None:
    """Let what comes of *files* be written to /dev/full, which takes no byte."""
    for part in (part_file(copy, file) for file in files):
        part.parent.mkdir(parents=True, exist_ok=True)
        part.symlink_to("/dev/full")
