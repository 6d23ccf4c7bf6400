"""Opens an index for the commands that read; imports neither prefect nor what only building needs."""

import os
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import typer

from runtime.settings import read_settings
from schemas.access import narrow_groups
from schemas.settings import Settings

if TYPE_CHECKING:
    from indexes.wiring import Readers


def read_shown_settings(index: str | None, groups: str | None = None, allow: str | None = None) -> Settings:
    """Read settings, their index what readers of *groups* see, or of SITEGRAPH_GROUPS; else the whole.

    *allow*: of that, what does not refuse these uses.
    Raises: ConfigError: there is no audience of these groups.
    """
    from indexes.markers import for_readers

    settings = read_settings(index)
    narrowed = narrow_groups(settings.groups if groups is None else groups, allow, subject="--allow")
    return for_readers(replace(settings, groups=narrowed), subject="--allow" if allow else "--groups")


def read_reading_settings(index: str | None, groups: str | None = None, allow: str | None = None) -> Settings:
    """Read settings as `read_shown_settings` does, their index a folder.

    What a URL names is downloaded first, which stderr says.
    """
    settings = read_shown_settings(index, groups, allow)
    if "://" not in settings.index:
        return settings
    from indexes.copies.cache import with_local_index

    return with_local_index(settings, now=time.time, say=tell)


def tell(line: str) -> None:
    """Print a line on stderr."""
    typer.echo(f"sitegraph: {line}", err=True)


def open_for_reading(settings: Settings, **options: Any) -> "Readers":
    """Open the index as `open_once` does, and warn on stderr."""
    from retrieval.once import open_once

    return open_once(settings, warn=warn, **options)


def utc_now() -> str:
    """The time as logs and records have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def warn(message: str) -> None:
    """Print a warning on stderr."""
    typer.echo(f"sitegraph: warning: {message}", err=True)


def terminal_width() -> int:
    """Columns to wrap text to: the terminal's, from 40 to 100; 80 where stdout is no terminal."""
    if not sys.stdout.isatty():
        return 80
    return max(40, min(100, os.get_terminal_size(sys.stdout.fileno()).columns))
