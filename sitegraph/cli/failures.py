"""What an error means to the person at the terminal: one line, and a code of docs/reference/exit-codes.md.

Decided by the error alone; what nobody foresaw is no failure here, and stays a fault of the program.
"""

import errno
import os
from pathlib import Path
from typing import NamedTuple

from schemas.errors import (
    EXIT_FAILED,
    EXIT_UNAVAILABLE,
    EXIT_USAGE,
    WHAT_TO_DO,
    ConfigError,
    NoRoom,
    SitegraphError,
    StoreUnavailable,
    exit_code,
    plain_reason,
    why_no_room,
)
from schemas.settings import extra_of, install_line

EXIT_TERMINATED = 143

_PREFECT = "set PREFECT_API_URL to a server that runs, or unset it to have one started for each run"
_NO_THREAD = "can't start new thread"
_NO_MEMORY = (
    "failed to map segment",
    "cannot allocate memory",
    "bad_alloc",
    "bad allocation",
    "out of memory",
    "without exception set",
    "without setting an exception",
)
"""What the loader, the kernel, libraries and, of calls that failed mutely, Python say, in lower case."""

_UNREACHED = "Failed to reach API at "
_DRIVERS = ("lance error", "LanceError", ".rs:")


class Failure(NamedTuple):
    """What to say, and the exit code."""

    message: str
    code: int


def explain_error(error: Exception, *, command: str) -> Failure | None:
    """Say what an error means; *command* is the one it ended. None: nobody foresaw it."""
    if _lacks_memory(error):  # even where it was taken for damage, as of an encoder that cannot be loaded
        return Failure("there is not enough memory; free some, or raise its limit (ulimit -v)", EXIT_FAILED)
    if isinstance(error, SitegraphError):
        return _ours(error)
    if isinstance(error, ModuleNotFoundError):
        return _not_installed(error, command)
    if full := why_no_room(error):
        return Failure(f"{full}. {WHAT_TO_DO}", EXIT_FAILED)
    if isinstance(error, OSError) and error.strerror:
        where = f"{os.fsdecode(error.filename)}: " if error.filename is not None else ""
        return Failure(f"{where}{error.strerror}", EXIT_FAILED)
    return _outer(error)


def _lacks_memory(error: BaseException | None) -> bool:
    """Whether memory ran out, here or in what an error came of: a library is loaded when it is first used.

    The words of a wrong value, or of a server that lacks memory itself, are no sign of it.
    """
    while error is not None:
        is_machine = (
            isinstance(error, ImportError | OSError | RuntimeError | SystemError)
            or _module(error) == "onnxruntime"
        )
        words = str(error).casefold() if is_machine else ""
        told = isinstance(error, OSError) and error.errno == errno.ENOMEM
        if told or isinstance(error, MemoryError) or any(mark in words for mark in _NO_MEMORY):
            return True
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return False


def _ours(error: SitegraphError) -> Failure:
    full = None if isinstance(error, NoRoom) else why_no_room(error)
    if full and isinstance(error, StoreUnavailable):
        where = f"{error.subject}: " if error.subject else ""
        return Failure(f"{where}{full}. {WHAT_TO_DO}", EXIT_FAILED)
    return Failure(str(error), exit_code(error))


def _not_installed(error: ModuleNotFoundError, command: str) -> Failure | None:
    extra = extra_of(error.name or "")
    if extra is None:
        return None
    return Failure(
        f"{command}: needs {error.name}, which is not installed; run: {install_line(extra)}", EXIT_USAGE
    )


def _outer(error: Exception) -> Failure | None:
    """Errors of the machine, of Prefect and of LanceDB, none of whose classes is imported for this alone."""
    text, module = str(error), _module(error)
    if _NO_THREAD in text:
        return Failure("no more threads can be started; raise the limit (ulimit -u, ulimit -v)", EXIT_FAILED)
    if text.startswith(_UNREACHED):
        url = text.removeprefix(_UNREACHED).split()[0]
        return Failure(f"Prefect server {url}: cannot be reached; {_PREFECT}", EXIT_UNAVAILABLE)
    if module in ("httpx", "prefect"):
        said = plain_reason(text.partition(" - ")[0])
        return Failure(f"Prefect server: {said}; {_PREFECT}", EXIT_UNAVAILABLE)
    if any(mark in text for mark in _DRIVERS):
        return Failure(
            f"a table of the index cannot be read or written: {plain_reason(text)}; run: sitegraph verify",
            EXIT_UNAVAILABLE,
        )
    return None


def _module(error: BaseException) -> str:
    return type(error).__module__.partition(".")[0]


def require_folder(path: Path) -> None:
    """Say at once, not after long work, that *path* is a folder or lies in none. Raises: ConfigError."""
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise ConfigError("cannot be written: name a file in a folder that exists", subject=str(path))
