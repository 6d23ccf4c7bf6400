"""Programs of the machine: Chromium for pages made by scripts, Tesseract for pictures of text."""

import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from schemas.errors import ConfigError, ParseError
from schemas.settings import RunSettings, install_line
from schemas.source import Source

if TYPE_CHECKING:
    from ingest.fetch.browser import Browser

_NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium(settings: RunSettings) -> str | None:
    """Return the program that the setting names, or the first of the usual ones; None: none is there."""
    names = (settings.chromium,) if settings.chromium else _NAMES
    return next(filter(None, map(shutil.which, names)), None)


def open_browser(
    source: Source, settings: RunSettings, *, storage: Mapping[str, Mapping[str, str]] | None = None
) -> "Browser | None":
    """Return browser of a source whose pages are made by scripts, else None; it starts with the first page.

    *storage* is what its pages find in localStorage, by origin. As root it runs without its own sandbox,
    which Chromium refuses to root.
    Raises: ConfigError: the extra `js` or Chromium is not there.
    """
    if not source.javascript:
        return None
    if find_spec("playwright") is None:
        raise ConfigError(
            f"needs playwright, which is not installed; run: {install_line('js')}", subject="javascript: true"
        )
    found = find_chromium(settings)
    if found is None:
        where = f"SITEGRAPH_CHROMIUM names {settings.chromium}, which" if settings.chromium else "Chromium"
        raise ConfigError(
            f"{where} was not found; install it, or set SITEGRAPH_CHROMIUM to its program",
            subject="javascript: true",
        )
    from ingest.fetch.browser import Browser  # who only reads has no HTTP client

    return Browser(
        executable=found,
        sandbox=os.geteuid() != 0,
        user_agent=source.user_agent or settings.user_agent,
        storage=storage,
    )


PAGE_SECONDS = 60
"""Processor time for one page; a clean scan takes 1-3 s."""

PATIENCE = 10
"""How many times as long a page may take by the clock of a busy machine."""

_PROGRAM = "tesseract"
_NO_DATA = b"Failed loading language"


def recognise(png: bytes, languages: str) -> str:
    """Return the words of a picture as TSV; *languages* as Tesseract names them, joined by `+`.

    The document's parser is killed with its process group when its time is up, and this program with it.
    Raises: ConfigError: Tesseract or its data for a language are not installed; ParseError: it failed on this
    picture or took too long.
    """
    command = [_PROGRAM, "stdin", "stdout", "-l", languages, "tsv"]
    try:
        done = subprocess.run(
            command,
            input=png,
            capture_output=True,
            timeout=PAGE_SECONDS * PATIENCE,
            check=False,
            preexec_fn=_limit_time,
        )
    except FileNotFoundError as error:
        message = "install Tesseract (on Debian: apt-get install tesseract-ocr) to have it recognised"
        raise ConfigError(message, subject=_PROGRAM) from error
    except subprocess.TimeoutExpired as error:
        raise ParseError(f"Tesseract did not end in {PAGE_SECONDS * PATIENCE} s", subject=_PROGRAM) from error
    if done.returncode == -signal.SIGXCPU:
        raise ParseError(f"Tesseract took longer than {PAGE_SECONDS} s", subject=_PROGRAM)
    if done.returncode:
        raise _refusal(done.stderr, languages)
    return done.stdout.decode("utf-8", "replace")


@cache
def engine() -> str:
    """Name the installed Tesseract and its version; empty where there is none."""
    if shutil.which(_PROGRAM) is None:
        return ""
    done = subprocess.run([_PROGRAM, "--version"], capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).partition("\n")[0].strip()


def _limit_time() -> None:
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = PAGE_SECONDS if hard == resource.RLIM_INFINITY else min(PAGE_SECONDS, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _refusal(stderr: bytes, languages: str) -> ConfigError | ParseError:
    if _NO_DATA in stderr:
        message = f"install Tesseract's data for {languages} (on Debian: packages tesseract-ocr-*)"
        return ConfigError(message, subject=_PROGRAM)
    reason = " ".join(stderr.decode("utf-8", "replace").split())[-200:]
    return ParseError(f"Tesseract failed: {reason or 'it gave no reason'}", subject=_PROGRAM)
