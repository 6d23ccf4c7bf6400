"""Files that commands write for a person: the text of one, or one line that says why not."""

from pathlib import Path

from runtime.file_errors import os_error_reason
from schemas.errors import ConfigError


def write_text(path: Path, text: str) -> None:
    """Write a file in UTF-8. Raises: ConfigError: it cannot be written."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot be written ({os_error_reason(error)})", subject=str(path)) from error


def require_folder(path: Path) -> None:
    """Say at once, not after long work, that *path* is a folder or lies in none. Raises: ConfigError."""
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise ConfigError("cannot be written: name a file in a folder that exists", subject=str(path))
