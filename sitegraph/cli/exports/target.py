"""Where an export goes: standard output, or a file or folder that is whole or not there."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from runtime.file_errors import os_error_reason
from schemas.errors import ConfigError


@contextmanager
def open_target(path: Path | None) -> Iterator[BinaryIO]:
    """Return a stream of bytes; a file takes its place when the block ends well, an old one stays until then.

    Raises: ConfigError: it cannot be written there.
    """
    if path is None:
        yield sys.stdout.buffer
        return
    with _beside(path.absolute().parent) as scratch:
        with (scratch / path.name).open("wb") as file:
            yield file
        _move(scratch / path.name, path)


@contextmanager
def fill_folder(folder: Path) -> Iterator[Path]:
    """Return a folder to write files into; they move to *folder* when the block ends well.

    Raises: ConfigError: it cannot be written there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot be written ({os_error_reason(error)})", subject=str(folder)) from error
    with _beside(folder) as scratch:
        yield scratch
        for file in sorted(scratch.iterdir()):
            _move(file, folder / file.name)


@contextmanager
def _beside(folder: Path) -> Iterator[Path]:
    try:
        scratch = Path(tempfile.mkdtemp(prefix=".export-", dir=folder))
    except OSError as error:
        raise ConfigError(f"cannot be written ({os_error_reason(error)})", subject=str(folder)) from error
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _move(file: Path, target: Path) -> None:
    try:
        os.replace(file, target)
    except OSError as error:
        raise ConfigError(f"cannot be written ({os_error_reason(error)})", subject=str(target)) from error
