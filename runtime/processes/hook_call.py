"""How a parser child calls the hook that cleans a page: within its time, its faults told by its name."""

import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from runtime.clean_hooks import HookError, load_hook
from schemas.cleaning import Cleaning, Hook
from schemas.errors import ParseError
from schemas.redaction import one_line

PROCESSOR_SHARE = 0.5
"""Of the processor time left to a page: what hangs in Python is told before the child is killed."""

SECONDS = 30.0
"""By the clock, for a hook that waits."""

_LONGEST = 200


class _OutOfTime(BaseException):
    """No Exception: a hook that goes on after any of those ends all the same."""


def run_hook(hook: Hook, soup: object, subject: str, *, seconds: float = SECONDS) -> object:
    """Call the hook with a page and return what it returns. For the main thread of a process.

    Raises: ParseError: it raised, or took too long; MemoryError.
    """
    left = signal.getitimer(signal.ITIMER_PROF)[0]
    try:
        with _limited(left * PROCESSOR_SHARE, seconds):
            return load_hook(hook)(soup)
    except MemoryError:
        raise
    except _OutOfTime as end:
        message = f"clean {hook.name} did not end within its time ({end}); the page is left out"
        raise ParseError(message, subject=subject) from None
    except HookError as error:
        raise ParseError(f"clean {hook.name} {error}", subject=subject) from error
    except (Exception, SystemExit) as error:
        told = ": ".join(filter(None, (type(error).__name__, one_line(str(error))[:_LONGEST])))
        message = f"clean {hook.name} raised {told}{_place(hook, error)}; the page is left out"
        raise ParseError(message, subject=subject) from error


def blame_hook(cleaning: Cleaning | None) -> str:
    """Name the hook that may be why a child ended without a word; "" where there is none."""
    return f" (cleaned by {cleaning.hook.name})" if cleaning is not None and cleaning.hook is not None else ""


def _place(hook: Hook, error: BaseException) -> str:
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == hook.path
    ]
    return f" ({Path(hook.path).name}, line {lines[-1]})" if lines else ""


@contextmanager
def _limited(processor: float, clock: float) -> Iterator[None]:
    """Raise _OutOfTime once either is used up, and again every second; 0 of processor time is no limit."""
    over = False

    def end(number: int, _frame: FrameType | None) -> None:
        if over:
            return
        is_clock = number == signal.SIGALRM
        raise _OutOfTime(f"{clock:g} s" if is_clock else f"{processor:.2g} s of processor time")

    signal.signal(signal.SIGALRM, end)
    signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_REAL, clock, 1.0)
    signal.setitimer(signal.ITIMER_VIRTUAL, processor, 1.0 if processor else 0.0)
    try:
        yield
    finally:
        over = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
