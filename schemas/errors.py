"""Everything sitegraph raises on purpose, and what errors of others mean: a full disk, a signal.

    SitegraphError
    ├── TransientError            try again later; tasks retry these and nothing else
    │   ├── FetchTimeout
    │   ├── HostBusy              carries retry_after
    │   ├── ParserUnavailable
    │   └── StoreUnavailable
    ├── TerminalError             trying again gives the same answer
    │   ├── FetchRefused
    │   ├── UnsupportedMedia
    │   ├── ParseError
    │   ├── SchemaMismatch
    │   ├── FilterError
    │   ├── QueryRefused
    │   ├── BudgetExceeded
    │   ├── ConfigError
    │   ├── GuardRefused
    │   │   └── PublishHeld
    │   ├── StaleLease
    │   ├── NoRoom
    │   ├── ChangesUnavailable
    │   └── DamageFound
    └── Stopped                   a stop was asked for (Ctrl-C, SIGTERM); what is done is kept

Each names its subject (a URL, a node id, a store, a file) and says what to do about it.
"""

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager

from schemas.redaction import one_line


class SitegraphError(Exception):
    """Base of all errors raised on purpose; `str()` is one line fit for a terminal and a log."""

    def __init__(self, message: str, *, subject: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.subject = subject

    def __str__(self) -> str:
        message = one_line(self.message)
        return f"{one_line(self.subject)}: {message}" if self.subject else message

    def under(self, heading: str) -> str:
        """The same line below a heading, which a subject of that name does not repeat."""
        return one_line(self.message) if self.subject == heading else str(self)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.message, self.__dict__))


def _rebuild(cls: type[SitegraphError], message: str, state: dict[str, object]) -> SitegraphError:
    error = cls.__new__(cls)
    Exception.__init__(error, message)
    error.__dict__.update(state)
    return error


class TransientError(SitegraphError):
    """May succeed when tried again."""


class FetchTimeout(TransientError):
    """A host did not answer in time, or the network failed on the way."""


class HostBusy(TransientError):
    """A host asked us to wait (429, 503).

    Args: retry_after: seconds, or None when the host named no usable time.
    """

    def __init__(self, message: str, *, subject: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, subject=subject)
        self.retry_after = retry_after


class ParserUnavailable(TransientError):
    """No process that reads documents can be started; that is no fault of any document."""


class StoreUnavailable(TransientError):
    """A store cannot be reached or a pinned version has been pruned."""


class TerminalError(SitegraphError):
    """Fails the same way every time; recorded, never retried."""


class FetchRefused(TerminalError):
    """Our own rules forbid the request (address, scheme, robots.txt, limits)."""


class UnsupportedMedia(TerminalError):
    """The body is of a type or encoding that sitegraph does not read."""


class ParseError(TerminalError):
    """The bytes are not the document they claim to be, or exceed a limit."""


class SchemaMismatch(TerminalError):
    """A store or file contains another schema or another model than expected."""


class FilterError(TerminalError):
    """A filter names an unknown field or an impossible value."""


class QueryRefused(TerminalError):
    """The policy at the entry does not let a question pass."""


class BudgetExceeded(TerminalError):
    """What asking a model may cost is used up."""


class ConfigError(TerminalError):
    """A setting, source file or model file is wrong; the message names the key."""


class GuardRefused(TerminalError):
    """A run would do harm (seed unreachable, site empty, mass delete) and was stopped."""


class PublishHeld(GuardRefused):
    """Publishing is held: by a person, or since questions have lost their evidence."""


class StaleLease(TerminalError):
    """Somebody else holds, or has taken over, the lease this run wrote under."""


class NoRoom(TerminalError):
    """A disk, a quota or a database is full; nobody makes room while a task waits to try again."""


class ChangesUnavailable(TerminalError):
    """The change feed does not lead from the generation somebody has to the one readers see."""


class DamageFound(TerminalError):
    """A store does not contain what its generation says it contains."""


class Stopped(SitegraphError):
    """The run was asked to stop; running it again resumes."""


def error_chain(error: BaseException) -> Iterator[BaseException]:
    """Give the error, then what caused it, or was being handled when it was raised, to the first of all."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        one = one.__cause__ or one.__context__


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


BUCKET_NAME = "the name of the bucket"


def what_to_check(first: str) -> str:
    """Say what people may look at where object storage fails, *first* before all."""
    return (
        f"check {first}, what the environment says of the server and its credentials (AWS_ENDPOINT_URL, "
        "AWS_ACCESS_KEY_ID and their like), and the right to list, read, write and delete there"
    )


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


EXIT_FAILED, EXIT_USAGE, EXIT_UNAVAILABLE, EXIT_REFUSED, EXIT_INTERRUPTED = 1, 2, 3, 4, 130


def exit_code(error: SitegraphError) -> int:
    """Return the exit code of an error by its class: what each means is in docs/reference/exit-codes.md."""
    if isinstance(error, ConfigError | FilterError | SchemaMismatch):
        return EXIT_USAGE
    if isinstance(error, StoreUnavailable):
        return EXIT_UNAVAILABLE
    if isinstance(error, GuardRefused | QueryRefused):
        return EXIT_REFUSED
    return EXIT_INTERRUPTED if isinstance(error, Stopped) else EXIT_FAILED


_END_OF_TEXT = re.compile(
    r"(?:^|: )(?:(?P<ctrl_c>KeyboardInterrupt)|SystemExit: (?P<code>\d{1,3})):?\s*(?:, \S+:\d+:\d+)?$",
    re.MULTILINE,
)
"""How errors of Arrow 26 and pylance 13 end: "External error: SystemExit: 143", or the traceback of one."""


def signal_in_error(error: BaseException) -> KeyboardInterrupt | SystemExit | None:
    """Return what a handler of signals raised and others made an error of; None: nothing of the kind.

    A handler raises wherever the program happens to be: in a call of a driver written in Rust, or while
    Python makes a class, which ends in a RuntimeError.
    """
    return next((found for found in map(_signal, error_chain(error)) if found is not None), None)


def _signal(error: BaseException) -> KeyboardInterrupt | SystemExit | None:
    if isinstance(error, KeyboardInterrupt | SystemExit):
        return error
    found = _END_OF_TEXT.search(str(error))
    if found is None:
        return None
    return KeyboardInterrupt() if found["ctrl_c"] else SystemExit(int(found["code"]))


_PLACE = re.compile(r"[,:]?\s*(?:at\s+)?[^\s,]*\.rs:\d+(?::\d+)?")
"""A line of Rust code, as LanceDB adds it to what it says."""

_KIND = re.compile(
    r"\b(?:lance error|LanceError\(\w+\)|(?:External|Execution|Generic \w+|Encountered internal) error): "
)
_REPORT = re.compile(r"\s*Please file a bug report.*", re.DOTALL)
_UNSAID = "it gave no reason"


def plain_reason(error: BaseException | str) -> str:
    """Return the reason in the driver's text on one line, without the kinds of error it passed through and
    places in its source code."""
    text = _REPORT.sub("", " ".join(str(error).split()))
    return _PLACE.sub("", _KIND.sub("", text)).strip(" ,;:") or _UNSAID
