"""Telling from an error, whoever raised it, that nothing more can be written."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from schemas.error_chain import error_chain
from schemas.errors import NoRoom

_CODES = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "a file may not grow any further (ulimit -f)",
}
_WORDS = {
    "no space left on device": _CODES[errno.ENOSPC],
    "database or disk is full": _CODES[errno.ENOSPC],
    "quota exceeded": _CODES[errno.EDQUOT],
    "507 insufficient storage": "the bucket is full",
    "file too large": _CODES[errno.EFBIG],
}
"""What SQLite, PostgreSQL and LanceDB, which give no code, say of it."""

WHAT_TO_DO = "Nothing changed for readers; free some space and try again"


def why_no_room(error: BaseException) -> str | None:
    """Say what is full, by the error or one that it came from; None: it is about something else."""
    return next(filter(None, map(_why, error_chain(error))), None)


@contextmanager
def telling_no_room(subject: str) -> Iterator[None]:
    """Turn an OSError of a full disk into NoRoom; all others pass."""
    try:
        yield
    except OSError as error:
        if full := why_no_room(error):
            raise NoRoom(f"{full}. {WHAT_TO_DO}", subject=subject) from error
        raise


def _why(error: BaseException) -> str | None:
    if isinstance(error, OSError) and error.errno in _CODES:
        return _CODES[error.errno]
    text = str(error).lower()
    return next((why for words, why in _WORDS.items() if words in text), None)
