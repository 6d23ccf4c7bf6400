"""Progress on stderr: bars on a terminal, elsewhere a line now and then; with rate and time left."""

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.text import Text

from schemas.redaction import one_line

EVERY_SECONDS = 30.0
"""Between two lines where there is no terminal: a log of an hour has 120 of them."""

T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Counted:
    """How far a stage is, and since when."""

    since: float
    done: int = 0
    total: int = 0


class StageProgress:
    """Shows one bar a stage; safe to call from several threads.

    Args: quiet: nothing is shown but what is said. clock: seconds, for the lines where there is no terminal.
    """

    def __init__(self, *, quiet: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = Console(file=sys.stderr, quiet=quiet)
        self._bars: dict[str, TaskID] = {}
        self._clock = clock
        self._lines = not quiet and not self._console.is_terminal
        self._lock = threading.Lock()
        self._counted: dict[str, _Counted] = {}
        self._told = clock()
        self._progress = Progress(
            TextColumn("{task.description:>8}"),
            BarColumn(),
            MofNCompleteColumn(),
            _Pace(),
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
        self._progress.update(bar, total=((self._progress.tasks[bar].total or 0) + more) or None)
        self._count(stage, total=more)

    def advance(self, stage: str, done: int = 1) -> None:
        """Say that a part of a stage is done."""
        self._progress.advance(self._bar(stage), done)
        self._count(stage, done=done)

    def over(self, stage: str, items: Iterable[T], *, total: int = 0) -> Iterator[T]:
        """Yield *items*, each a part of a stage, done when the next is asked for; total 0: not known."""
        self.expect(stage, total)
        for item in items:
            yield item
            self.advance(stage)

    def say(self, message: str) -> None:
        """Print one line, and log it."""
        _log.info("%s", message)
        self._console.print(one_line(message), highlight=False, markup=False)

    def _bar(self, stage: str) -> TaskID:
        with self._lock:
            if stage not in self._bars:
                self._bars[stage] = self._progress.add_task(stage, total=None)
            return self._bars[stage]

    def _count(self, stage: str, *, done: int = 0, total: int = 0) -> None:
        if not self._lines:
            return
        now = self._clock()
        with self._lock:
            counted = self._counted.setdefault(stage, _Counted(since=now))
            counted.done += done
            counted.total += total
            if not done or now - self._told < EVERY_SECONDS:
                return
            self._told = now
            line = progress_line(stage, counted.done, counted.total, seconds=now - counted.since)
        self._console.print(line, highlight=False, markup=False, soft_wrap=True)


def progress_line(stage: str, done: int, total: int, *, seconds: float) -> str:
    """Say how far a stage is after so many seconds, how quick, and how much longer it takes."""
    return f"{stage} {done}/{total or '?'}, {pace_of(done, total, seconds=seconds)}"


def pace_of(done: int, total: int, *, seconds: float) -> str:
    """Say the rate and the time left; the time taken where all is done or nothing is yet."""
    if done <= 0 or seconds <= 0:
        return "starting"
    rate = done / seconds
    quick = f"{rate:.0f}/s" if rate >= 10 else f"{rate:.1f}/s" if rate >= 1 else f"{rate * 60:.1f}/min"
    return (
        f"{quick}, {told_time((total - done) / rate)} left"
        if done < total
        else f"{quick}, {told_time(seconds)}"
    )


def told_time(seconds: float) -> str:
    """Write a time as h:mm:ss."""
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


class _Pace(ProgressColumn):
    """Rate and time left of a bar."""

    def render(self, task: Task) -> Text:
        """Say them of one bar."""
        return Text(pace_of(int(task.completed), int(task.total or 0), seconds=task.elapsed or 0.0))
