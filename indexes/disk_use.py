"""How much room files take on a disk where others may delete some meanwhile."""

import os
from pathlib import Path
from stat import S_ISREG


def folder_bytes(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(file_bytes(Path(parent, name)) for parent, _, names in os.walk(folder) for name in names)


def file_bytes(path: Path) -> int:
    """Bytes of a file; none of one that is gone, and of what is no file."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return 0
    return status.st_size if S_ISREG(status.st_mode) else 0
