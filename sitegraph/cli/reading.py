"""Opens an index for the commands that read; imports neither prefect nor what only building needs."""

import os
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from runtime.settings import read_settings
from schemas.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexes.wiring import Readers
    from retrieval.retriever import RetrievalResult
    from schemas.coverage import Coverage
    from schemas.evidence import Query
    from schemas.usage_counts import Interface


def read_shown_settings(index: str | None, groups: str | None = None) -> Settings:
    """Read settings, their index what readers of *groups* see, or of SITEGRAPH_GROUPS; else the whole.

    Raises: ConfigError: there is no audience of these groups.
    """
    from indexes.audiences import for_readers

    settings = read_settings(index)
    return for_readers(replace(settings, groups=settings.groups if groups is None else groups))


def read_reading_settings(index: str | None, groups: str | None = None) -> Settings:
    """Read settings as `read_shown_settings` does, their index a folder.

    What a URL names is downloaded first, which stderr says.
    """
    settings = read_shown_settings(index, groups)
    if "://" not in settings.index:
        return settings
    from indexes.copies.cache import with_local_index

    return with_local_index(settings, now=time.time, say=tell)


def tell(line: str) -> None:
    """Print a line on stderr."""
    typer.echo(f"sitegraph: {line}", err=True)


def open_for_reading(
    settings: Settings, *, use_graph: bool = True, use_rerank: bool = False, as_of: str | None = None
) -> "Readers":
    """Open the index at its current generation, or as it was; what could not be opened is a warning.

    Raises: ConfigError: no generation of *as_of*, a number or a date, is kept.
    """
    from indexes.wiring import open_readers

    readers = open_readers(
        Path(settings.index),
        environment=settings.environment(),
        use_graph=use_graph,
        use_rerank=use_rerank,
        generation=None if as_of is None else _generation(settings, as_of),
    )
    for warning in readers.warnings:
        warn(warning)
    return readers


def coverage_of(settings: Settings) -> "Coverage":
    """Read from the ledger what the index may lack; raises as `indexes.coverage.read_coverage` does."""
    from indexes.coverage import read_coverage

    now = datetime.now(UTC).isoformat(timespec="seconds")
    return read_coverage(Path(settings.index), now=now, ledger_url=settings.ledger_url)


def _generation(settings: Settings, as_of: str) -> int:
    from retrieval.as_of import find_generation

    return find_generation(Path(settings.index), as_of)


def warn(message: str) -> None:
    """Print a warning on stderr."""
    typer.echo(f"sitegraph: warning: {message}", err=True)


def log_usage(
    index: Path,
    queries: "Sequence[Query]",
    *,
    door: "Interface",
    seconds: float,
    results: "Sequence[RetrievalResult]" = (),
    not_found: bool = False,
) -> None:
    """Append what was asked, and found in *seconds*, to the log beside the index; failing to is a warning."""
    from retrieval.learning.query_log import log_queries

    try:
        log_queries(
            index,
            queries,
            timestamp=datetime.now(UTC).isoformat(timespec="seconds"),
            results=results,
            not_found=not_found,
            door=door,
            seconds=seconds,
        )
    except OSError as error:
        warn(f"the usage log cannot be written: {error}")


def terminal_width() -> int:
    """Columns to wrap text to: the terminal's, from 40 to 100; 80 where stdout is no terminal."""
    if not sys.stdout.isatty():
        return 80
    return max(40, min(100, os.get_terminal_size(sys.stdout.fileno()).columns))
