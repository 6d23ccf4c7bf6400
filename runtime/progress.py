"""Progress on stderr: bars on a terminal, one line a stage elsewhere."""

import logging
import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from schemas.redaction import one_line

_log = logging.getLogger(__name__)


class StageProgress:
    """Shows one bar a stage; safe to call from several threads."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = Console(file=sys.stderr, quiet=quiet)
        self._bars: dict[str, TaskID] = {}
        self._progress = Progress(
            TextColumn("{task.description:>8}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=self._console,
            disable=quiet or not self._console.is_terminal,
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def expect(self, stage: str, more: int) -> None:
        """Add to what a stage has to do."""
        bar = self._bar(stage)
        self._progress.update(bar, total=(self._progress.tasks[bar].total or 0) + more)

    def advance(self, stage: str, done: int = 1) -> None:
        """Say that a part of a stage is done."""
        self._progress.advance(self._bar(stage), done)

    def say(self, message: str) -> None:
        """Print one line, and log it."""
        _log.info("%s", message)
        self._console.print(one_line(message), highlight=False, markup=False)

    def _bar(self, stage: str) -> TaskID:
        if stage not in self._bars:
            self._bars[stage] = self._progress.add_task(stage, total=0)
        return self._bars[stage]
