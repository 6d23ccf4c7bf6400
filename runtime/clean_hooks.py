"""The function that a source file names to clean its pages: found, loaded, and called within its time.

A module beside the source file comes first, then what is installed. Nothing else is looked at: neither the
working folder, nor anything that was fetched. What lies beside the source file is read from its own file,
under a name of its own, so that no file there can stand in for a module of Python or of sitegraph.
"""

import hashlib
import inspect
import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.abc import SourceLoader
from importlib.util import find_spec, module_from_spec, spec_from_loader
from pathlib import Path
from types import FrameType
from typing import Any

from runtime.settings import child_environment
from schemas.errors import ConfigError, ParseError
from schemas.fragment import Cleaning, Hook
from schemas.records import from_record, to_record
from schemas.redaction import one_line

HookFunction = Callable[[Any], object]

IMPORT_SECONDS = 60
"""How long the import of a hook may take; none needs as long."""

_LONGEST = 300


class HookError(Exception):
    """A hook that cannot be had; the text says why."""


def find_hook(name: str, folder: Path) -> Hook:
    """Find the hook *name* (`module:function`) for a source file in *folder*, and import it once for a trial.

    The trial takes place in a process of its own: what a module does when it is imported touches no run.

    Raises: HookError: there is none, or it is no function of one argument.
    """
    module = name.partition(":")[0]
    path = _beside(module, folder)
    if path is None:
        return _try_apart(name, str(folder))
    return _tried_before(name, str(folder), hashlib.sha256(path.read_bytes()).hexdigest())


def load_hook(hook: Hook) -> HookFunction:
    """Import a hook that was found before.

    Raises: HookError: its file is not what it was then; and whatever the module raises.
    """
    module, _, function = hook.name.partition(":")
    made = _load_file(Path(hook.path), hook.sha256) if hook.beside else import_module(module)
    file = getattr(made, "__file__", None)
    if not hook.beside and (file is None or _digest(Path(file)) != hook.sha256):
        raise HookError("has changed since the run began; run again")
    found: HookFunction = getattr(made, function)
    return found


@lru_cache(maxsize=32)
def _tried_before(name: str, folder: str, _sha256: str) -> Hook:
    """A source file is read several times in a run; the trial takes a third of a second."""
    return _try_apart(name, folder)


def _try_apart(name: str, folder: str) -> Hook:
    try:
        tried = subprocess.run(
            [sys.executable, "-P", "-m", "runtime.clean_hooks", name, folder],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=child_environment(),
            timeout=IMPORT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise HookError(f"its import did not end within {IMPORT_SECONDS} s") from error
    except OSError as error:
        raise ConfigError(f"no process starts to try it ({error.strerror})", subject=name) from error
    try:
        answer = json.loads(tried.stdout)
    except ValueError:
        raise HookError(f"its import ended Python (exit {tried.returncode})") from None
    if "error" in answer:
        raise HookError(answer["error"])
    return from_record(Hook, answer)


def _beside(module: str, folder: Path) -> Path | None:
    """The file of a module beside the source file: `a.b` is a/b.py or a/b/__init__.py."""
    stem = folder.joinpath(*module.split("."))
    files = (stem.with_name(f"{stem.name}.py"), stem / "__init__.py")
    return next((file for file in files if file.is_file()), None)


def _try(name: str, folder: Path) -> Hook:
    module, _, function = name.partition(":")
    path = _beside(module, folder)
    try:
        if path is not None:
            sha256 = _digest(path)
            made = _load_file(path, sha256)
        else:
            if (spec := find_spec(module)) is None or not spec.has_location:
                raise HookError(_nowhere(module, folder))
            made = import_module(module)
            path, sha256 = Path(made.__file__ or ""), _digest(Path(made.__file__ or ""))
    except HookError:
        raise
    except ModuleNotFoundError as error:
        # Of `a.b`, a may be what is missing.
        if path is None and error.name and module.startswith(error.name):
            raise HookError(_nowhere(module, folder)) from error
        raise HookError(_not_imported(error)) from error
    except BaseException as error:
        raise HookError(_not_imported(error)) from error
    _check_function(made, module, function)
    beside = _beside(module, folder) is not None
    return Hook(name=name, path=str(path), sha256=sha256, beside=beside)


def _nowhere(module: str, folder: Path) -> str:
    file = module.replace(".", "/")
    return f"there is neither a file {folder / file}.py nor an installed module {module}"


def _not_imported(error: BaseException) -> str:
    where = f" (line {error.lineno})" if isinstance(error, SyntaxError) and error.lineno else ""
    told = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"cannot be imported: {type(error).__name__}: {one_line(told)[:_LONGEST]}{where}"


def _check_function(made: Any, module: str, function: str) -> None:
    found = getattr(made, function, None)
    if not callable(found):
        known = sorted(name for name, one in vars(made).items() if inspect.isfunction(one))
        told = f"; its functions: {', '.join(known)}" if known else ""
        raise HookError(f"{module} has no function {function}{told}")
    try:
        inspect.signature(found).bind(object())
    except TypeError as error:
        raise HookError(f"{function} should take one argument, the page as a BeautifulSoup") from error
    except ValueError:
        return  # some callables of C tell nothing of what they take


@dataclass(frozen=True)
class _FileLoader(SourceLoader):
    """Loads the very bytes whose hash is known, by way of no `__pycache__`: an edit may outrun that."""

    path: str
    data: bytes

    def get_filename(self, _fullname: str) -> str:
        return self.path

    def get_data(self, _path: str | bytes) -> bytes:
        return self.data


def _load_file(path: Path, sha256: str) -> Any:
    name = f"_sitegraph_hook_{sha256}"
    if name in sys.modules:
        return sys.modules[name]
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise HookError("has changed since the run began; run again")
    loader = _FileLoader(str(path), data)
    spec = spec_from_loader(name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@lru_cache(maxsize=8)
def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _main(name: str, folder: str) -> None:
    """Try a hook and print it, or why it cannot be had, as JSON; what its module prints goes elsewhere."""
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        told: dict[str, Any] = to_record(_try(name, Path(folder)))
    except HookError as error:
        told = {"error": str(error)}
    with answer:
        json.dump(told, answer)


PROCESSOR_SHARE = 0.5
"""Of the processor time left to a page: what hangs in Python is told before the child is killed."""

SECONDS = 30.0
"""By the clock, for a hook that waits."""

_LONGEST_REASON = 200


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
        told = ": ".join(filter(None, (type(error).__name__, one_line(str(error))[:_LONGEST_REASON])))
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


if __name__ == "__main__":
    _main(*sys.argv[1:])
