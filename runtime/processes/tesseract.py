"""Tesseract as parsers use it: the picture of a page in, its words with places and confidence out."""

import resource
import shutil
import signal
import subprocess
from functools import cache

from schemas.errors import ConfigError, ParseError

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
