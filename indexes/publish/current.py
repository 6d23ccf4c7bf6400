"""`CURRENT`: the number of the generation that readers see, changed by one rename."""

import os
from pathlib import Path

from indexes.layout import IndexLayout
from schemas.errors import ConfigError, DamageFound


def read_current(index: Path) -> int:
    """Read the number of the generation that readers see; take it once per query.

    Raises: ConfigError: the folder is no index; DamageFound: `CURRENT` is missing or holds no number.
    """
    path = IndexLayout(index).current
    try:
        text = path.read_text("ascii").strip()
        if not text.isdecimal():
            raise ValueError(repr(text[:20]))
        return int(text)
    except (FileNotFoundError, NotADirectoryError) as error:
        if IndexLayout(index).manifest.exists():
            raise DamageFound(
                "is missing; write the highest number of generations/ into it", subject=str(path)
            ) from error
        raise ConfigError(
            f"not an index; make one with: sitegraph run SOURCE.yaml --index {index}", subject=str(index)
        ) from error
    except (OSError, ValueError) as error:
        raise DamageFound(
            f"holds no number ({error}); write the highest number of generations/ into it", subject=str(path)
        ) from error


def write_current(index: Path, generation: int) -> None:
    """Let readers see *generation* from now on."""
    write_durably(IndexLayout(index).current, f"{generation}\n")


def write_durably(path: Path, text: str) -> None:
    """Replace a file by rename, so that it is whole before and after a power cut; makes its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.new")
    with beside.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
