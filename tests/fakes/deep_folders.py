"""Folders in folders, deeper than one call for each could go."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

DEPTH = 1500


def nest(top: Path, depth: int) -> None:
    """Put a note below *depth* folders; their path as a whole may be longer than the system takes."""
    folder = os.open(top, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=folder)
        inner = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    note = os.open("note.md", os.O_WRONLY | os.O_CREAT, dir_fd=folder)
    os.write(note, b"# Deep\n")
    os.close(note)
    os.close(folder)


@pytest.fixture
def deep_folders(tmp_path: Path) -> Iterator[Path]:
    """A folder whose only note lies very deep; it goes with the test, since Python's own removal recurses."""
    top = tmp_path / "very deep"
    top.mkdir()
    nest(top, DEPTH)
    yield top
    subprocess.run(["rm", "-rf", str(top)], check=True)
